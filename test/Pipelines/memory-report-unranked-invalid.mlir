// RUN: not fad-memory-report %s --entry=alive 2>&1 | FileCheck %s --check-prefix=ALIVE
// RUN: not fad-memory-report %s --entry=kept 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not fad-memory-report %s --entry=kept --format=json --policy=fad 2>&1 | FileCheck %s --check-prefix=KEPT

// Joint functions from elsewhere may have tensors without a rank: nothing is said of
// their bytes, neither at the peak nor among what is kept.

// ALIVE: [[#@LINE+3]]:8: error: cannot tell how many bytes a value of type 'tensor<*xf32>' takes; tensors must be ranked, and elements integers, floating-point numbers, index, or complex numbers or fixed vectors of them
func.func @alive(%x: tensor<*xf32>, %g: tensor<*xf32> {fad.cotangent = 0 : i64})
    -> (tensor<*xf32>, tensor<*xf32> {fad.gradient = 0 : i64}) {
  %y = arith.mulf %x, %x : tensor<*xf32>
  %d = arith.mulf %x, %g : tensor<*xf32>
  return %y, %d : tensor<*xf32>, tensor<*xf32>
}

// KEPT: [[#@LINE+4]]:8: error: cannot tell how many bytes a value of type 'tensor<*xf32>' takes; tensors must be ranked, and elements integers, floating-point numbers, index, or complex numbers or fixed vectors of them
func.func @kept(%x: tensor<4xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4xf32> {fad.gradient = 0 : i64}) {
  %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  %e = math.exp %u : tensor<*xf32>
  %y = tensor.cast %e : tensor<*xf32> to tensor<4xf32>
  %d = arith.mulf %y, %g : tensor<4xf32>
  return %x, %d : tensor<4xf32>, tensor<4xf32>
}
