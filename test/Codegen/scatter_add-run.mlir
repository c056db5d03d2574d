// Both forms against numpy: places that occur several times, never, and such
// as lie outside, which are left out.

// DEFINE: %{make} = %python %S/../fad-runner/Inputs/make_arrays.py %t
// DEFINE: %{check} = %python %S/../fad-runner/Inputs/check_arrays.py %t
// RUN: fad-opt %s --fad-to-linalg=scatter-as-reductions -o %t.reductions.mlir

// The loop writes in place: one-shot bufferization finds no need for a copy.
// RUN: fad-opt %s --fad-to-linalg --one-shot-bufferize=bufferize-function-boundaries --cse --canonicalize \
// RUN:   | FileCheck %s
// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         arith.addf
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         return

// RUN: %{make} 'u=rng.normal(size=(4, 6, 3)).astype("f4")' 'i=rng.integers(-2, 9, size=(4, 6))' \
// RUN:   'init=rng.normal(size=(7, 3)).astype("f4")' \
// RUN:   'hit=(i[..., None] == np.arange(7)).astype("f4")' 'y=init + np.einsum("abr,abc->rc", hit, u)' \
// RUN:   'big=np.repeat(init, 200, axis=0)' 'top=big[:9] + np.einsum("abr,abc->rc", i[..., None] == np.arange(9), u)'
// RUN: fad-runner %s --out=%t --entry=rows --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, y, 1e-6)'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=rows --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, y, 1e-6)'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/big.npy
// RUN: %{check} 'close(out0[:9], top, 1e-6)' 'close(out0[9:], big[9:])'
func.func @rows(%u: tensor<4x6x3xf32>, %i: tensor<4x6xi64>, %init: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %r = fad.scatter_add %u at (%i : tensor<4x6xi64>) dims [0] into %init : tensor<4x6x3xf32> -> tensor<7x3xf32>
  return %r : tensor<7x3xf32>
}
func.func @table(%u: tensor<?x?x3xf32>, %i: tensor<?x?xi64>, %init: tensor<1400x3xf32>) -> tensor<1400x3xf32> {
  %r = fad.scatter_add %u at (%i : tensor<?x?xi64>) dims [0] into %init : tensor<?x?x3xf32> -> tensor<1400x3xf32>
  return %r : tensor<1400x3xf32>
}

// No updates, and no places.
// RUN: %{make} 'u=np.zeros((0, 6, 3), "f4")' 'i=np.zeros((0, 6), "i8")' 'init=rng.normal(size=(1400, 3)).astype("f4")'
// RUN: fad-runner %s --out=%t --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, init)'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, init)'
// RUN: %{make} 'u=np.zeros((5, 2), "f8")' 'i=np.arange(5, dtype="i4")' 'j=np.arange(5) - 2' 'init=np.zeros((0, 2, 7))'
// RUN: fad-runner %s --out=%t --entry=places --arg=%t/u.npy --arg=%t/i.npy --arg=%t/j.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, init)'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=places --arg=%t/u.npy --arg=%t/i.npy --arg=%t/j.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, init)'

// Two coordinates: one that lies outside does not reach the next row.
// RUN: %{make} 'n=500' 'u=rng.normal(size=(n, 2))' 'i=rng.integers(-1, 4, n).astype("i4")' 'j=rng.integers(-1, 6, n)' \
// RUN:   'init=rng.normal(size=(3, 2, 5))' \
// RUN:   'y=init + np.einsum("ni,nj,nk->ikj", i[:, None] == np.arange(3), j[:, None] == np.arange(5), u)'
// RUN: fad-runner %s --out=%t --entry=places --arg=%t/u.npy --arg=%t/i.npy --arg=%t/j.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, y, 1e-14)'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=places --arg=%t/u.npy --arg=%t/i.npy --arg=%t/j.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, y, 1e-14)'
func.func @places(%u: tensor<?x?xf64>, %i: tensor<?xi32>, %j: tensor<?xi64>, %init: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %r = fad.scatter_add %u at (%i, %j : tensor<?xi32>, tensor<?xi64>) dims [0, 2] into %init : tensor<?x?xf64> -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// One update. What is not reached keeps its sign; inf and NaN stay where they
// are.
// RUN: %{make} 'u=np.array(np.inf, "f2")' 'i=np.array(2)' 'init=np.array([-0.0, np.nan, 1, -0.0], "f2")'
// RUN: fad-runner %s --out=%t --entry=one --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'np.signbit(out0).tolist() == [True, False, False, True]' 'np.isnan(out0).tolist() == [False, True, False, False]' \
// RUN:   'out0[2] == np.inf'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=one --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'np.signbit(out0).tolist() == [True, False, False, True]' 'np.isnan(out0).tolist() == [False, True, False, False]' \
// RUN:   'out0[2] == np.inf'
func.func @one(%u: tensor<f16>, %i: tensor<i64>, %init: tensor<4xf16>) -> tensor<4xf16> {
  %r = fad.scatter_add %u at (%i : tensor<i64>) dims [0] into %init : tensor<f16> -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// The same numbers to the last bit on any number of threads; the loop adds in
// row-major order.
// RUN: %{make} 'u=rng.normal(size=(64, 40, 3)).astype("f4")' 'i=rng.integers(0, 9, size=(64, 40))' \
// RUN:   'init=np.zeros((1400, 3), "f4")' 'y=[y := init.copy(), np.add.at(y, i, u)][0]'
// RUN: env OMP_NUM_THREADS=1 fad-runner %s --out=%t/1 --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: env OMP_NUM_THREADS=4 fad-runner %s --out=%t/4 --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: cmp %t/1/out0.npy %t/4/out0.npy
// RUN: cmp %t/1/out0.npy %t/y.npy
// RUN: env OMP_NUM_THREADS=1 fad-runner %t.reductions.mlir --out=%t/r1 --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: env OMP_NUM_THREADS=4 fad-runner %t.reductions.mlir --out=%t/r4 --entry=table --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: cmp %t/r1/out0.npy %t/r4/out0.npy

// Sizes of which one is 0 and others are not known.
// RUN: %{make} 'u=np.zeros((4, 0, 3), "f2")' 'i=np.zeros((4, 0), "i8")' 'init=rng.normal(size=(2, 3)).astype("f2")'
// RUN: fad-runner %s --out=%t --entry=none --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, init)'
// RUN: fad-runner %t.reductions.mlir --out=%t --entry=none --arg=%t/u.npy --arg=%t/i.npy --arg=%t/init.npy
// RUN: %{check} 'close(out0, init)'
func.func @none(%u: tensor<?x?x?xf16>, %i: tensor<?x0xi64>, %init: tensor<?x3xf16>) -> tensor<?x3xf16> {
  %r = fad.scatter_add %u at (%i : tensor<?x0xi64>) dims [0] into %init : tensor<?x?x?xf16> -> tensor<?x3xf16>
  return %r : tensor<?x3xf16>
}
