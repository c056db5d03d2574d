// RUN: fad-opt %s --fad-split | FileCheck %s

// CHECK-LABEL: func @f_forward(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[W:.*]]: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32> {fad.residual}, tensor<?xf32> {fad.residual}) attributes {fad.pullback = @f_backward} {
// CHECK:         %[[Y:.*]] = arith.mulf %[[X]], %[[W]]
// CHECK-NOT:     arith.mulf
// CHECK:         return %[[Y]], %[[X]], %[[W]]

// CHECK-LABEL: func @f_backward(
// CHECK-SAME:    %[[RX:.*]]: tensor<?xf32> {fad.residual}, %[[RW:.*]]: tensor<?xf32> {fad.residual}, %[[G:.*]]: tensor<?xf32> {fad.cotangent = 0 : i64})
// CHECK-SAME:    -> (tensor<?xf32> {fad.gradient = 0 : i64}, tensor<?xf32> {fad.gradient = 1 : i64})
// CHECK:         %[[GX:.*]] = arith.mulf %[[G]], %[[RW]]
// CHECK:         %[[GW:.*]] = arith.mulf %[[G]], %[[RX]]
// CHECK:         return %[[GX]], %[[GW]]
// CHECK-NOT:   func @f_joint
func.func @f_joint(%x: tensor<?xf32>, %w: tensor<?xf32>, %g: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}, tensor<?xf32> {fad.gradient = 1 : i64}) {
  %y = arith.mulf %x, %w : tensor<?xf32>
  %rx = fad.residual %x needed_by ["arith.mulf"] reason "argument" : tensor<?xf32>
  %rw = fad.residual %w needed_by ["arith.mulf"] reason "argument" : tensor<?xf32>
  %gx = arith.mulf %g, %rw : tensor<?xf32>
  %gw = arith.mulf %g, %rx : tensor<?xf32>
  return %y, %gx, %gw : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
