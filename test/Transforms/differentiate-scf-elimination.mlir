// Elimination in a loop, the slices of which shrink from step to step, as torch-mlir
// writes the determinant: its gradient against numpy and against differences, in
// memory that is overwritten where it is freed.

// RUN: %python -c "import numpy as np; np.save('%t.npy', np.random.default_rng(5).standard_normal((4, 4)))"
// DEFINE: %{policy} =
// DEFINE: %{run} = env MALLOC_PERTURB_=85 fad-runner %s --policy=%{policy} --arg=%t.npy --check-gradients --out=%t.out && \
// DEFINE:   %python -c "import numpy as np; x = np.load('%t.npy'); a = np.tanh(x) + np.diag([5, 6, 7, 8]); \
// DEFINE:   d = np.linalg.det(a); np.testing.assert_allclose(np.load('%t.out/out0.npy'), d, rtol=1e-12); \
// DEFINE:   np.testing.assert_allclose(np.load('%t.out/grad0.npy'), d * np.linalg.inv(a).T * (1 - np.tanh(x) ** 2), rtol=1e-9)"
// REDEFINE: %{policy} = auto
// RUN: %{run}
// REDEFINE: %{policy} = bp
// RUN: %{run}
// REDEFINE: %{policy} = recompute
// RUN: %{run}
// REDEFINE: %{policy} = fad
// RUN: %{run}

func.func @determinant(%x: tensor<4x4xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %shift = arith.constant dense<[[5.0, 0.0, 0.0, 0.0], [0.0, 6.0, 0.0, 0.0], [0.0, 0.0, 7.0, 0.0], [0.0, 0.0, 0.0, 8.0]]> : tensor<4x4xf64>
  %t = math.tanh %x : tensor<4x4xf64>
  %a = arith.addf %t, %shift : tensor<4x4xf64>
  %pivots = tensor.empty() : tensor<4xf64>
  %u:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %a, %d = %pivots) -> (tensor<4x4xf64>, tensor<4xf64>) {
    %row = tensor.extract_slice %m[%i, 0] [1, 4] [1, 1] : tensor<4x4xf64> to tensor<4xf64>
    %pivot = tensor.extract_slice %m[%i, %i] [1, 1] [1, 1] : tensor<4x4xf64> to tensor<1xf64>
    %e = tensor.insert_slice %pivot into %d[%i] [1] [1] : tensor<1xf64> into tensor<4xf64>
    %next = arith.addi %i, %c1 : index
    %left = arith.subi %c3, %i : index
    %column = tensor.extract_slice %m[%next, %i] [%left, 1] [1, 1] : tensor<4x4xf64> to tensor<?xf64>
    %rest = tensor.extract_slice %m[%next, 0] [%left, 4] [1, 1] : tensor<4x4xf64> to tensor<?x4xf64>
    %empty = tensor.empty(%left) : tensor<?x4xf64>
    %new = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (0)>,
        affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%row, %pivot, %rest, %column : tensor<4xf64>, tensor<1xf64>, tensor<?x4xf64>, tensor<?xf64>)
        outs(%empty : tensor<?x4xf64>) {
    ^bb0(%r: f64, %p: f64, %v: f64, %c: f64, %out: f64):
      %isRegular = arith.cmpf one, %p, %zero : f64
      cf.assert %isRegular, "a pivot is 0"
      %factor = arith.divf %c, %p : f64
      %product = arith.mulf %factor, %r : f64
      %difference = arith.subf %v, %product : f64
      linalg.yield %difference : f64
    } -> tensor<?x4xf64>
    %n = tensor.insert_slice %new into %m[%next, 0] [%left, 4] [1, 1] : tensor<?x4xf64> into tensor<4x4xf64>
    scf.yield %n, %e : tensor<4x4xf64>, tensor<4xf64>
  }
  %last = tensor.extract %u#0[%c3, %c3] : tensor<4x4xf64>
  %all = tensor.insert %last into %u#1[%c3] : tensor<4xf64>
  %result = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %one) -> f64 {
    %value = tensor.extract %all[%i] : tensor<4xf64>
    %q = arith.mulf %p, %value : f64
    scf.yield %q : f64
  }
  return %result : f64
}
