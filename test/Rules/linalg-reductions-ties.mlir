// Where the greatest element is not the only one, and where there is no
// greatest: what PyTorch's max, amax, max along a dimension, and prod do.

// DEFINE: %{make} = %python %S/../fad-runner/Inputs/make_arrays.py %t
// DEFINE: %{check} = %python %S/../fad-runner/Inputs/check_arrays.py %t
// DEFINE: %{entry} =
// DEFINE: %{run} = fad-runner %s --entry=%{entry} --policy=fad --out=%t --arg=%t/x.npy
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Ties share evenly, also if all are -inf: the init that stands for nothing has
// no part. NaN belongs to what is NaN.
// REDEFINE: %{entry} = amax
// RUN: %{make} 'i=np.inf' 'n=np.nan' 'x=np.array([[1, 2, 2, 0], [-i, -i, -i, -i], [i, 1, i, i], [1, n, 2, n]])'
// RUN: %{run}
// RUN: %{check} 'close(grad0, np.array([[0, .5, .5, 0], [.25] * 4, [1/3, 0, 1/3, 1/3], [0, .5, 0, .5]]), 1e-16)'
func.func @amax(%x: tensor<?x4xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf64>
  %least = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty(%rows) : tensor<?xf64>
  %init = linalg.fill ins(%least : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.reduce ins(%x : tensor<?x4xf64>) outs(%init : tensor<?xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %m = arith.maximumf %in, %out : f64
      linalg.yield %m : f64
    }
  return %r : tensor<?xf64>
}

// An init that counts is one more element.
// REDEFINE: %{entry} = init
// RUN: %{make} 'x=np.array([[0, -1, 0, 0], [-1, -2, -1, -3], [-1, 5, 5, 5]], "f4")' 'y=np.array([0, 0, -1], "f4")'
// RUN: %{run} --arg=%t/y.npy
// RUN: %{check} 'close(grad0, np.array([[.25, 0, .25, .25], [0] * 4, [0, 1/3, 1/3, 1/3]], "f4"))' \
// RUN:   'close(grad1, np.array([.25, 1, 0], "f4"))'
func.func @init(%x: tensor<?x4xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.reduce ins(%x : tensor<?x4xf32>) outs(%init : tensor<?xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %m = arith.maximumf %in, %out : f32
      linalg.yield %m : f32
    }
  return %r : tensor<?xf32>
}

// maxnumf passes over NaN, which then has no gradient.
// REDEFINE: %{entry} = numbers
// RUN: %{make} 'n=np.nan' 'x=np.array([[1, n, 1, 0], [n, n, 3, 2]])'
// RUN: %{run}
// RUN: %{check} 'close(grad0, np.array([[.5, 0, .5, 0], [0, 0, 1, 0]]))'
func.func @numbers(%x: tensor<2x4xf64>) -> tensor<2xf64> {
  %init = arith.constant dense<0xFFF0000000000000> : tensor<2xf64>
  %r = linalg.reduce ins(%x : tensor<2x4xf64>) outs(%init : tensor<2xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %m = arith.maxnumf %in, %out : f64
      linalg.yield %m : f64
    }
  return %r : tensor<2xf64>
}

// With the index that the operation also yields, one element has it all: the
// first for ogt, as PyTorch has it, the last for oge.
// REDEFINE: %{entry} = first
// RUN: %{make} 'i=np.inf' 'x=np.array([[1, 2, 2, 0], [-i, -i, -i, -i], [i, 1, i, i]])'
// RUN: %{run}
// RUN: %{check} 'close(grad0, np.array([[0., 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]))' 'out1.tolist() == [1, 0, 0]'
func.func @first(%x: tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3xi64>) {
  %init = arith.constant dense<0xFFF0000000000000> : tensor<3xf64>
  %zero = arith.constant dense<0> : tensor<3xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf64>) outs(%init, %zero : tensor<3xf64>, tensor<3xi64>) {
  ^bb0(%a: f64, %out: f64, %best: i64):
    %i = linalg.index 1 : index
    %p = arith.index_cast %i : index to i64
    %m = arith.maximumf %a, %out : f64
    %c = arith.cmpf ogt, %a, %out : f64
    %n = arith.select %c, %p, %best : i64
    linalg.yield %m, %n : f64, i64
  } -> (tensor<3xf64>, tensor<3xi64>)
  return %r#0, %r#1 : tensor<3xf64>, tensor<3xi64>
}

// Here the index may be none of the terms': the init is greater in the last
// row, and equal in the one before.
// REDEFINE: %{entry} = last
// RUN: %{make} 'x=np.array([[1., 2, 2, 0], [3, 1, 2, 0], [-1, -2, -1, -1]])' 'y=np.array([0., 3, 0])'
// RUN: %{run} --arg=%t/y.npy
// RUN: %{check} 'close(grad0, np.array([[0., 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))' 'close(grad1, np.array([0., 0, 1]))' \
// RUN:   'out1.tolist() == [2, 0, 0]'
func.func @last(%x: tensor<3x4xf64>, %init: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xindex>) {
  %zero = arith.constant dense<0> : tensor<3xindex>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf64>) outs(%init, %zero : tensor<3xf64>, tensor<3xindex>) {
  ^bb0(%a: f64, %out: f64, %best: index):
    %i = linalg.index 1 : index
    %c = arith.cmpf olt, %a, %out : f64
    %m = arith.select %c, %out, %a : f64
    %n = arith.select %c, %best, %i : index
    linalg.yield %m, %n : f64, index
  } -> (tensor<3xf64>, tensor<3xindex>)
  return %r#0, %r#1 : tensor<3xf64>, tensor<3xindex>
}

// A product with no zero, one, and two; with an infinite factor.
// REDEFINE: %{entry} = prod
// RUN: %{make} 'i=np.inf' 'x=np.array([[1, 2, 4], [0, 2, 3], [0, 0, 3], [2, i, 3], [-0.0, 2, 5]])' \
// RUN:   'y=np.array([1., 0, 1, 2, 0])'
// RUN: %{run} --arg=%t/y.npy
// RUN: %{check} 'np.array_equal(grad0, [[8, 4, 2], [0, 0, 0], [0, 0, 0], [i, np.nan, i], [0, 0, 0]], equal_nan=True)' \
// RUN:   'np.array_equal(grad1, [8, 0, 0, i, 0])'
// RUN: %{make} 'x=np.array([[0, 2, 3.]])' 'y=np.array([2.])'
// RUN: %{run} --arg=%t/y.npy
// RUN: %{check} 'close(grad0, np.array([[12., 0, 0]]))' 'close(grad1, np.array([0.]))'
func.func @prod(%x: tensor<?x3xf64>, %init: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.reduce ins(%x : tensor<?x3xf64>) outs(%init : tensor<?xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %m = arith.mulf %out, %in : f64
      linalg.yield %m : f64
    }
  return %r : tensor<?xf64>
}

// The product of all factors is too small or too great for f32, that of all but
// one is not.
// REDEFINE: %{entry} = extremes
// RUN: %{make} 'x=np.array([[1e-30, 1e-20, 2, 1], [1e30, 1e20, 2, 1]], "f4")' 'y=np.array([1, 1], "f4")'
// RUN: %{run} --arg=%t/y.npy
// RUN: %{check} 'close(grad0[0], np.array([2e-20, 2e-30, 0, 0], "f4"), 1e-6)' \
// RUN:   'close(grad0[1, :2], np.array([2e20, 2e30], "f4"), 1e-6)' 'np.all(grad0[1, 2:] == np.inf)' \
// RUN:   'np.array_equal(grad1, [0, np.inf])'
func.func @extremes(%x: tensor<2x4xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.reduce ins(%x : tensor<2x4xf32>) outs(%init : tensor<2xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %m = arith.mulf %in, %out : f32
      linalg.yield %m : f32
    }
  return %r : tensor<2xf32>
}
