// RUN: fad-opt %s --fad-select-residuals=policy=auto | FileCheck %s

// A joint function from elsewhere, whose backward part overwrites a tensor of
// the forward part.

// CHECK-LABEL: func.func @overwrites(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<8xf32>
// CHECK:         %[[R:.*]] = fad.residual %[[X]]
// CHECK-NOT:     fad.residual
// CHECK:         linalg.exp ins(%[[G]] : tensor<8xf32>) outs(%[[R]] : tensor<8xf32>)
// CHECK:         return
func.func @overwrites(%x: tensor<8xf32>, %g: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32>, tensor<8xf32> {fad.gradient = 0 : i64}) {
  %y = arith.negf %x : tensor<8xf32>
  %d = linalg.exp ins(%g : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %y, %d : tensor<8xf32>, tensor<8xf32>
}
