// Gradients of maxima, minima and products against differences in f64.

// DEFINE: %{entry} =
// DEFINE: %{args} =
// DEFINE: %{check} = fad-runner %s --entry=%{entry} --check-gradients %{args}
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#keep = affine_map<(d0, d1) -> (d0, 0)>

// Along rows, with an init that takes part; dynamic, of size 1, and empty.
// REDEFINE: %{entry} = maximum
// RUN: %{check} --size=7
// RUN: %{check} --size=1
// RUN: %{check} --size=0
// RUN: %{check} --size=5 --policy=bp
// RUN: %{check} --size=5 --policy=recompute
func.func @maximum(%x: tensor<?x?xf64>, %init: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.reduce ins(%x : tensor<?x?xf64>) outs(%init : tensor<?xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %m = arith.maximumf %in, %out : f64
      linalg.yield %m : f64
    }
  return %r : tensor<?xf64>
}

// A term that is a constant, which is no rectifier of what the others combine.
// REDEFINE: %{entry} = constant
// RUN: %{check}
// RUN: %{check} --policy=fad
func.func @constant(%x: tensor<3x2xf64>, %init: tensor<3xf64>) -> tensor<3xf64> {
  %zero = arith.constant 0.0 : f64
  %r = linalg.reduce ins(%x : tensor<3x2xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %m = arith.maximumf %zero, %out : f64
      linalg.yield %m : f64
    }
  return %r : tensor<3xf64>
}

// REDEFINE: %{entry} = minimum
// RUN: %{check} --size=7
func.func @minimum(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) dimensions = [0]
    (%in: f32, %out: f32) {
      %m = arith.minnumf %out, %in : f32
      linalg.yield %m : f32
    }
  return %r : tensor<?xf32>
}

// A comparison, with the index, a kept dimension, and a maximum of something
// that is computed; the loss of a softmax is built on that.
// REDEFINE: %{entry} = index
// RUN: %{check} --size=6
// RUN: %{check} --size=1
// RUN: %{check} --size=0
func.func @index(%x: tensor<?x?xf64>, %y: tensor<?xf64>, %init: tensor<?x1xf64>) -> tensor<?x1xf64> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf64>
  %zero = arith.constant 0 : i64
  %e = tensor.empty(%rows) : tensor<?x1xi64>
  %zeros = linalg.fill ins(%zero : i64) outs(%e : tensor<?x1xi64>) -> tensor<?x1xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #column, #keep, #keep], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xf64>, tensor<?xf64>) outs(%init, %zeros : tensor<?x1xf64>, tensor<?x1xi64>) {
  ^bb0(%a: f64, %b: f64, %out: f64, %best: i64):
    %i = linalg.index 1 : index
    %p = arith.index_cast %i : index to i64
    %t = arith.mulf %a, %b : f64
    %c = arith.cmpf olt, %out, %t : f64
    %m = arith.select %c, %t, %out : f64
    %n = arith.select %c, %p, %best : i64
    linalg.yield %m, %n : f64, i64
  } -> (tensor<?x1xf64>, tensor<?x1xi64>)
  return %r#0 : tensor<?x1xf64>
}

// Everything at once: a sum, a maximum and a product.
// REDEFINE: %{entry} = mixed
// RUN: %{check} --size=5
func.func @mixed(%x: tensor<4x?xf64>, %s: tensor<4xf64>, %m: tensor<4xf64>, %p: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %r:3 = linalg.generic {indexing_maps = [#id, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x?xf64>) outs(%s, %m, %p : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  ^bb0(%a: f64, %o0: f64, %o1: f64, %o2: f64):
    %sin = math.sin %a : f64
    %0 = arith.addf %o0, %sin : f64
    %1 = arith.minimumf %o1, %a : f64
    %2 = arith.mulf %o2, %sin : f64
    linalg.yield %0, %1, %2 : f64, f64, f64
  } -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
  return %r#0, %r#1, %r#2 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

// REDEFINE: %{entry} = product
// RUN: %{check} --size=4
// RUN: %{check} --size=1
// RUN: %{check} --size=0
// One zero, and then nothing but zeros.
// RUN: %{check} --arg=0 --arg=2 --size=1
// RUN: %{check} --arg=2 --arg=0 --size=2
// RUN: %{check} --arg=0 --arg=0 --size=3
func.func @product(%x: tensor<?x?xf64>, %init: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.reduce ins(%x : tensor<?x?xf64>) outs(%init : tensor<?xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %m = arith.mulf %out, %in : f64
      linalg.yield %m : f64
    }
  return %r : tensor<?xf64>
}

// Narrow types are counted, multiplied and divided in f32.
// REDEFINE: %{entry} = narrow
// RUN: %{check}
func.func @narrow(%x: tensor<4x9xbf16>, %m: tensor<4xbf16>, %p: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x9xbf16>) outs(%m, %p : tensor<4xbf16>, tensor<4xbf16>) {
  ^bb0(%a: bf16, %o0: bf16, %o1: bf16):
    %0 = arith.maximumf %a, %o0 : bf16
    %1 = arith.mulf %o1, %a : bf16
    linalg.yield %0, %1 : bf16, bf16
  } -> (tensor<4xbf16>, tensor<4xbf16>)
  return %r#0, %r#1 : tensor<4xbf16>, tensor<4xbf16>
}

// What equals the maximum is computed once more, with the digits that it had.
// REDEFINE: %{entry} = computed
// RUN: %{check} --policy=bp
// RUN: %{check}
func.func @computed(%x: tensor<4x9xbf16>, %m: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x9xbf16>) outs(%m : tensor<4xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.mulf %a, %a : bf16
    %1 = arith.subf %a, %0 : bf16
    %2 = arith.maximumf %1, %o : bf16
    linalg.yield %2 : bf16
  } -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}
