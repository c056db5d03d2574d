// Values against numpy.

// DEFINE: %{run} = fad-runner %s --out=%t
// DEFINE: %{make} = %python %S/Inputs/make_arrays.py %t
// DEFINE: %{check} = %python %S/Inputs/check_arrays.py %t

// RUN: %{make} 'x=rng.normal(size=(5, 4)).astype("f4")' \
// RUN:   'w=rng.normal(size=(4, 3)).astype("f4")' 'b=rng.normal(size=3).astype("f4")'
// RUN: %{run} --entry=linear --arg=%t/x.npy --arg=%t/w.npy --arg=%t/b.npy
// RUN: %{check} 'close(out0, x @ w + b, 1e-6)'
func.func @linear(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?xf32>)
    -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %w, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %bias = linalg.broadcast ins(%b : tensor<?xf32>)
      outs(%empty : tensor<?x?xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%bias : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// No rows, no columns, nothing to sum.
// RUN: %{make} 'x=np.zeros((0, 4), "f4")' 'w=np.ones((4, 3), "f4")' 'b=np.ones(3, "f4")'
// RUN: %{run} --entry=linear --arg=%t/x.npy --arg=%t/w.npy --arg=%t/b.npy
// RUN: %{check} 'close(out0, np.zeros((0, 3), "f4"))'
// RUN: %{make} 'x=np.ones((2, 0), "f4")' 'w=np.ones((0, 3), "f4")' 'b=np.ones(3, "f4")'
// RUN: %{run} --entry=linear --arg=%t/x.npy --arg=%t/w.npy --arg=%t/b.npy
// RUN: %{check} 'close(out0, np.ones((2, 3), "f4"))'

// An argument as it came, a value twice, and views of one buffer.
// RUN: %{make} 'x=rng.normal(size=(2, 3)).astype("f4")'
// RUN: %{run} --entry=shared --arg=%t/x.npy
// RUN: %{check} 'close(out0, np.exp(x), 1e-6)' 'close(out1, x)' 'close(out2, out0)' \
// RUN:   'close(out3, out0.reshape(6))' 'close(out4, x.reshape(6))'
func.func @shared(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<6xf32>, tensor<6xf32>) {
  %y = math.exp %x : tensor<2x3xf32>
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %flatX = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %y, %x, %y, %flat, %flatX : tensor<2x3xf32>, tensor<2x3xf32>,
      tensor<2x3xf32>, tensor<6xf32>, tensor<6xf32>
}

// Written in place, the argument would be another one in the second result.
// RUN: %{make} 'x=np.arange(4, dtype="f4")' 'y=np.ones(4, "f4")'
// RUN: %{run} --entry=accumulate --arg=%t/x.npy --arg=%t/y.npy
// RUN: %{check} 'close(out0, x + y)' 'close(out1, y)'
#id = affine_map<(d0) -> (d0)>
func.func @accumulate(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %sum, %y : tensor<4xf32>, tensor<4xf32>
}

// Scalars of all sizes are laid out as C does.
// RUN: fad-runner %s --entry=scalars --arg=1 --arg=1.5 --arg=-3 --arg=-7 --arg=2.5 \
// RUN:   --arg=9 --arg=-8 --arg=0.1 | FileCheck %s --check-prefix=SCALARS
// SCALARS:      out0: tensor<i1> = 0
// SCALARS-NEXT: out1: tensor<f16> = 3
// SCALARS-NEXT: out2: tensor<i8> = -6
// SCALARS-NEXT: out3: tensor<2xi32> = [-7, -7]
// SCALARS-NEXT: out4: tensor<bf16> = 5
// SCALARS-NEXT: out5: tensor<index> = 18
// SCALARS-NEXT: out6: tensor<i16> = -16
// SCALARS-NEXT: out7: tensor<f64> = 0.2
// SCALARS-NEXT: out8: tensor<bf16> = 2.5
func.func @scalars(%a: i1, %b: f16, %c: i8, %d: i32, %e: bf16, %f: index, %g: i16, %h: f64)
    -> (i1, f16, i8, tensor<2xi32>, bf16, index, i16, f64, bf16) {
  %true = arith.constant true
  %ra = arith.xori %a, %true : i1
  %rb = arith.addf %b, %b : f16
  %rc = arith.addi %c, %c : i8
  %rd = tensor.splat %d : tensor<2xi32>
  %re = arith.addf %e, %e : bf16
  %rf = arith.addi %f, %f : index
  %rg = arith.addi %g, %g : i16
  %rh = arith.addf %h, %h : f64
  return %ra, %rb, %rc, %rd, %re, %rf, %rg, %rh, %e
      : i1, f16, i8, tensor<2xi32>, bf16, index, i16, f64, bf16
}

// RUN: fad-runner %s --entry=square --arg=3 | FileCheck %s --check-prefix=SQUARE
// SQUARE: out0: tensor<f16> = 9
func.func @square(%x: f16) -> f16 {
  %y = arith.mulf %x, %x : f16
  return %y : f16
}

// RUN: fad-runner %s --entry=nothing | count 0
func.func @nothing() {
  return
}

// A sum over everything has rank 0.
// RUN: %{make} 'x=rng.normal(size=100).astype("f8")'
// RUN: %{run} --entry=sum --arg=%t/x.npy
// RUN: %{check} 'close(out0, np.asarray(x.sum()), 1e-14)'
func.func @sum(%x: tensor<?xf64>) -> tensor<f64> {
  %zero = arith.constant dense<0.0> : tensor<f64>
  %sum = linalg.reduce ins(%x : tensor<?xf64>) outs(%zero : tensor<f64>) dimensions = [0]
    (%a: f64, %b: f64) {
      %s = arith.addf %a, %b : f64
      linalg.yield %s : f64
    }
  return %sum : tensor<f64>
}

// Each integer type has its numpy type.
// RUN: %{make} 'a=np.array([True, False, True])' 'b=np.array([-1, 2, 100], "i1")' \
// RUN:   'c=np.array([-1, 2, 100], "i4")' 'd=np.array([-1, 2, 2**40])' 'e=np.array([3, 4, 5], "u4")'
// RUN: %{run} --entry=integers --arg=%t/a.npy --arg=%t/b.npy --arg=%t/c.npy --arg=%t/d.npy \
// RUN:   --arg=%t/d.npy --arg=%t/e.npy
// RUN: %{check} 'close(out0, ~a)' 'close(out1, b * b)' 'close(out2, 2 * c)' \
// RUN:   'close(out3, 2 * d)' 'close(out4, 2 * d)' 'close(out5, (2 * e).astype("i4"))'
func.func @integers(%a: tensor<?xi1>, %b: tensor<?xi8>, %c: tensor<?xi32>, %d: tensor<?xi64>,
    %e: tensor<?xindex>, %f: tensor<?xi32>) -> (tensor<?xi1>, tensor<?xi8>,
    tensor<?xi32>, tensor<?xi64>, tensor<?xindex>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %a, %c0 : tensor<?xi1>
  %bit = arith.constant true
  %true = tensor.splat %bit[%size] : tensor<?xi1>
  %ra = arith.xori %a, %true : tensor<?xi1>
  %rb = arith.muli %b, %b : tensor<?xi8>
  %rc = arith.addi %c, %c : tensor<?xi32>
  %rd = arith.addi %d, %d : tensor<?xi64>
  %re = arith.addi %e, %e : tensor<?xindex>
  %rf = arith.addi %f, %f : tensor<?xi32>
  return %ra, %rb, %rc, %rd, %re, %rf : tensor<?xi1>, tensor<?xi8>, tensor<?xi32>,
      tensor<?xi64>, tensor<?xindex>, tensor<?xi32>
}

// A function called like one of the C library does not replace that.
// RUN: fad-runner %s --entry=erf --arg=0.5 | FileCheck %s --check-prefix=ERF
// ERF: out0: tensor<2xf64> = [0.5204999, 0.5204999]
func.func @erf(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = math.erf %x : tensor<2xf64>
  return %y : tensor<2xf64>
}

// Calls, and control flow between blocks.
// RUN: fad-runner %s --entry=choose --arg=1 --arg=2 | FileCheck %s --check-prefix=YES
// RUN: fad-runner %s --entry=choose --arg=0 --arg=2 | FileCheck %s --check-prefix=NO
// YES: out0: tensor<2xf32> = [4, 4]
// NO:  out0: tensor<2xf32> = [2, 2]
func.func @choose(%condition: i1, %x: tensor<2xf32>) -> tensor<2xf32> {
  cf.cond_br %condition, ^yes, ^no
^yes:
  %y = call @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
^no:
  return %x : tensor<2xf32>
}
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// Recursion, which forwards no results.
// RUN: fad-runner %s --entry=roots --arg=3 --arg=256 | FileCheck %s --check-prefix=ROOTS
// ROOTS: out0: tensor<2xf32> = [2, 2]
func.func @roots(%n: i32, %x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %done = arith.cmpi sle, %n, %zero : i32
  %y = scf.if %done -> tensor<2xf32> {
    scf.yield %x : tensor<2xf32>
  } else {
    %rest = arith.subi %n, %one : i32
    %root = math.sqrt %x : tensor<2xf32>
    %deeper = func.call @roots(%rest, %root) : (i32, tensor<2xf32>) -> tensor<2xf32>
    scf.yield %deeper : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
