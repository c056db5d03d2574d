// Maxima that are subtracted before exponentials are taken, against differences
// in f64: where they cancel, they have no adjoint; where they do not, they have.

// DEFINE: %{entry} =
// DEFINE: %{check} = fad-runner %s --entry=%{entry} --check-gradients
// DEFINE: %{joint} = fad-opt %s --inline --fad-differentiate=entry=%{entry} -o %t.mlir && FileCheck %s --input-file=%t.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#keep = affine_map<(d0, d1) -> (d0, 0)>

// CANCELS:     {{_joint}}
// CANCELS-NOT: arith.cmpf
// CANCELS:     return
// COUNTS:      {{_joint}}
// COUNTS:      arith.cmpf oeq
// COUNTS:      return

// A softmax, with the maximum in the shape that it is broadcast from.
// REDEFINE: %{entry} = softmax
// RUN: %{joint} --check-prefix=CANCELS
// RUN: %{check}
// RUN: %{check} --policy=bp
func.func @softmax(%x: tensor<4x5xf64>, %w: tensor<4x5xf64>) -> tensor<4x5xf64> {
  %least = arith.constant dense<0xFFF0000000000000> : tensor<4xf64>
  %zero = arith.constant dense<0.0> : tensor<4x1xf64>
  %e = tensor.empty() : tensor<4x5xf64>
  %m = linalg.reduce ins(%x : tensor<4x5xf64>) outs(%least : tensor<4xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %0 = arith.maximumf %in, %out : f64
      linalg.yield %0 : f64
    }
  %m1 = tensor.expand_shape %m [[0, 1]] output_shape [4, 1] : tensor<4xf64> into tensor<4x1xf64>
  %d = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m1 : tensor<4x5xf64>, tensor<4x1xf64>) outs(%e : tensor<4x5xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %0 = arith.subf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<4x5xf64>
  %exp = math.exp %d : tensor<4x5xf64>
  %sum = linalg.generic {indexing_maps = [#id, #keep], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<4x5xf64>) outs(%zero : tensor<4x1xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.addf %a, %out : f64
    linalg.yield %0 : f64
  } -> tensor<4x1xf64>
  %y = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x5xf64>, tensor<4x1xf64>) outs(%e : tensor<4x5xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %0 = arith.divf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<4x5xf64>
  %z = arith.mulf %y, %w : tensor<4x5xf64>
  return %z : tensor<4x5xf64>
}

// The logarithm of a softmax, along the other dimension, of sizes that are not
// known, and log-sum-exp, which the maximum is added to again.
// REDEFINE: %{entry} = logarithm
// RUN: %{joint} --check-prefix=CANCELS
// RUN: %{check} --size=4
// RUN: %{check} --size=1
func.func @logarithm(%x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFFF0000000000000 : f64
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %x, %c0 : tensor<?x?xf64>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%rows, %columns) : tensor<?x?xf64>
  %e1 = tensor.empty(%columns) : tensor<?xf64>
  %leasts = linalg.fill ins(%least : f64) outs(%e1 : tensor<?xf64>) -> tensor<?xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%e1 : tensor<?xf64>) -> tensor<?xf64>
  %m = linalg.reduce ins(%x : tensor<?x?xf64>) outs(%leasts : tensor<?xf64>) dimensions = [0]
    (%in: f64, %out: f64) {
      %0 = arith.maxnumf %in, %out : f64
      linalg.yield %0 : f64
    }
  %b = linalg.broadcast ins(%m : tensor<?xf64>) outs(%e : tensor<?x?xf64>) dimensions = [0]
  %d = arith.subf %x, %b : tensor<?x?xf64>
  %exp = math.exp %d : tensor<?x?xf64>
  %sum = linalg.reduce ins(%exp : tensor<?x?xf64>) outs(%zeros : tensor<?xf64>) dimensions = [0]
    (%in: f64, %out: f64) {
      %0 = arith.addf %in, %out : f64
      linalg.yield %0 : f64
    }
  %log = math.log %sum : tensor<?xf64>
  %lb = linalg.broadcast ins(%log : tensor<?xf64>) outs(%e : tensor<?x?xf64>) dimensions = [0]
  %y = arith.subf %d, %lb : tensor<?x?xf64>
  %lse = arith.addf %log, %m : tensor<?xf64>
  return %y, %lse : tensor<?x?xf64>, tensor<?xf64>
}

// linalg.softmax.
// REDEFINE: %{entry} = named
// RUN: fad-opt %s --fad-normalize --fad-differentiate=entry=named -o %t.mlir && FileCheck %s --input-file=%t.mlir --check-prefix=CANCELS
// RUN: %{check}
func.func @named(%x: tensor<2x3x4xf32>, %w: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %z = arith.mulf %y, %w : tensor<2x3x4xf32>
  return %z : tensor<2x3x4xf32>
}

// Exponentials that nothing divides, also if they were an adjoint once.
// REDEFINE: %{entry} = exponentials
// RUN: %{joint} --check-prefix=COUNTS
// RUN: %{check}
func.func @exponentials(%x: tensor<4x5xf64>) -> tensor<4x5xf64> {
  %d = func.call @difference(%x) : (tensor<4x5xf64>) -> tensor<4x5xf64>
  %exp = math.exp %d {fad.adjoint_of = "math.exp"} : tensor<4x5xf64>
  return %exp : tensor<4x5xf64>
}

// The sum of a square: neither added to nor multiplied.
// REDEFINE: %{entry} = square
// RUN: %{joint} --check-prefix=COUNTS
// RUN: %{check}
func.func @square(%x: tensor<4x5xf64>) -> tensor<4x5xf64> {
  %d = func.call @difference(%x) : (tensor<4x5xf64>) -> tensor<4x5xf64>
  %y = arith.mulf %d, %d : tensor<4x5xf64>
  return %y : tensor<4x5xf64>
}

// A sum over different maxima; one that does not begin at zero; one of what is
// not multiplied.
// REDEFINE: %{entry} = across
// RUN: %{joint} --check-prefix=COUNTS
// RUN: %{check}
func.func @across(%x: tensor<4x5xf64>) -> tensor<4x5xf64> {
  %zero = arith.constant dense<0.0> : tensor<5xf64>
  %y = func.call @quotient(%x, %zero) : (tensor<4x5xf64>, tensor<5xf64>) -> tensor<4x5xf64>
  return %y : tensor<4x5xf64>
}
func.func private @quotient(%x: tensor<4x5xf64>, %zero: tensor<5xf64>) -> tensor<4x5xf64> {
  %d = func.call @difference(%x) : (tensor<4x5xf64>) -> tensor<4x5xf64>
  %exp = math.exp %d : tensor<4x5xf64>
  %sum = linalg.reduce ins(%exp : tensor<4x5xf64>) outs(%zero : tensor<5xf64>) dimensions = [0]
    (%in: f64, %out: f64) {
      %0 = arith.addf %in, %out : f64
      linalg.yield %0 : f64
    }
  %e = tensor.empty() : tensor<4x5xf64>
  %b = linalg.broadcast ins(%sum : tensor<5xf64>) outs(%e : tensor<4x5xf64>) dimensions = [0]
  %y = arith.divf %exp, %b : tensor<4x5xf64>
  return %y : tensor<4x5xf64>
}

// REDEFINE: %{entry} = begun
// RUN: %{joint} --check-prefix=COUNTS
// RUN: %{check}
func.func @begun(%x: tensor<4x5xf64>) -> tensor<4x5xf64> {
  %one = arith.constant dense<1.0> : tensor<4xf64>
  %d = func.call @difference(%x) : (tensor<4x5xf64>) -> tensor<4x5xf64>
  %exp = math.exp %d : tensor<4x5xf64>
  %sum = linalg.reduce ins(%exp : tensor<4x5xf64>) outs(%one : tensor<4xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %0 = arith.addf %in, %out : f64
      linalg.yield %0 : f64
    }
  %e = tensor.empty() : tensor<4x5xf64>
  %b = linalg.broadcast ins(%sum : tensor<4xf64>) outs(%e : tensor<4x5xf64>) dimensions = [1]
  %y = arith.divf %exp, %b : tensor<4x5xf64>
  return %y : tensor<4x5xf64>
}

// REDEFINE: %{entry} = differences
// RUN: %{joint} --check-prefix=COUNTS
// RUN: %{check}
func.func @differences(%x: tensor<4x5xf64>) -> tensor<4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %d = func.call @difference(%x) : (tensor<4x5xf64>) -> tensor<4x5xf64>
  %sum = linalg.reduce ins(%d : tensor<4x5xf64>) outs(%zero : tensor<4xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %0 = arith.addf %in, %out : f64
      linalg.yield %0 : f64
    }
  return %sum : tensor<4xf64>
}

// The maximum of another row is subtracted: of a square matrix.
// REDEFINE: %{entry} = crossed
// RUN: %{joint} --check-prefix=COUNTS
// RUN: %{check}
func.func @crossed(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %least = arith.constant dense<0xFFF0000000000000> : tensor<4xf64>
  %e = tensor.empty() : tensor<4x4xf64>
  %m = linalg.reduce ins(%x : tensor<4x4xf64>) outs(%least : tensor<4xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %0 = arith.maximumf %in, %out : f64
      linalg.yield %0 : f64
    }
  %rows = linalg.broadcast ins(%m : tensor<4xf64>) outs(%e : tensor<4x4xf64>) dimensions = [1]
  %columns = linalg.broadcast ins(%m : tensor<4xf64>) outs(%e : tensor<4x4xf64>) dimensions = [0]
  %0 = arith.subf %rows, %columns : tensor<4x4xf64>
  %1 = arith.addf %0, %x : tensor<4x4xf64>
  return %1 : tensor<4x4xf64>
}

func.func private @difference(%x: tensor<4x5xf64>) -> tensor<4x5xf64> {
  %least = arith.constant dense<0xFFF0000000000000> : tensor<4xf64>
  %e = tensor.empty() : tensor<4x5xf64>
  %m = linalg.reduce ins(%x : tensor<4x5xf64>) outs(%least : tensor<4xf64>) dimensions = [1]
    (%in: f64, %out: f64) {
      %0 = arith.maximumf %in, %out : f64
      linalg.yield %0 : f64
    }
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x5xf64>, tensor<4xf64>) outs(%e : tensor<4x5xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %0 = arith.subf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<4x5xf64>
  return %d : tensor<4x5xf64>
}

// Sizes that are known of the input or the result alone.
// REDEFINE: %{entry} = known
// RUN: %{check} --size=3
func.func @known(%x: tensor<?x3xf64>) -> (tensor<3x?xf64>, tensor<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf64>
  %e = tensor.empty(%n) : tensor<3x?xf64>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x3xf64>) outs(%e : tensor<3x?xf64>) -> tensor<3x?xf64>
  %f = tensor.empty(%n, %n) : tensor<?x?xf64>
  %t = linalg.softmax dimension(0) ins(%x : tensor<?x3xf64>) outs(%f : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %s, %t : tensor<3x?xf64>, tensor<?x?xf64>
}
