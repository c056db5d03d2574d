// RUN: fad-opt %s --fad-select-residuals=policy=auto | FileCheck %s
// RUN: fad-opt %s --fad-select-residuals=policy=bp -o /dev/null
// RUN: fad-opt %s --fad-select-residuals=policy=fad -o /dev/null

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

// Alternatives that somebody else has left: in the backward part, one inside the
// other, and as a result.

// CHECK-LABEL: func.func @alternatives(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>, %[[H:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<8xf32>
// CHECK-NOT:     fad.alternatives
// CHECK:         %[[Y:.*]] = math.sin %[[X]]
// CHECK:         fad.residual
// CHECK-NOT:     fad.alternatives
// CHECK:         arith.mulf %[[G]]
// CHECK:         return %[[Y]],
func.func @alternatives(%x: tensor<8xf32>, %h: tensor<8xf32>, %g: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32>, tensor<8xf32> {fad.gradient = 0 : i64}) {
  %s = math.sin %x : tensor<8xf32>
  %c = math.cos %h : tensor<8xf32>
  %y = fad.alternatives %s, %c : tensor<8xf32>
  %e = math.exp %h : tensor<8xf32>
  %z = fad.alternatives %y, %e : tensor<8xf32>
  %left = arith.mulf %g, %z : tensor<8xf32>
  %right = arith.mulf %z, %g : tensor<8xf32>
  %d = fad.alternatives %left, %right : tensor<8xf32>
  return %y, %d : tensor<8xf32>, tensor<8xf32>
}
