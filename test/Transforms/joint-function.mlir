// RUN: fad-opt %s --fad-select-residuals --fad-split | FileCheck %s
// Selecting again replaces the selection, and leaves a pair alone.
// RUN: fad-opt %s --fad-select-residuals=policy=bp --fad-select-residuals --fad-split --fad-select-residuals --fad-split \
// RUN: | FileCheck %s

// Cotangents before arguments and gradients before results; each keeps its
// attributes. What has a side effect stays, on its side.

// CHECK-LABEL: func @f_forward(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32> {test.name = "x"}, %[[W:.*]]: tensor<4xf32> {test.name = "w"})
// CHECK-SAME:    -> (tensor<4xf32> {test.name = "y"}, tensor<4xf32> {fad.residual}, tensor<4xf32> {fad.residual})
// CHECK-SAME:    attributes {fad.pullback = @f_backward, llvm.emit_c_interface}
// CHECK:         %[[Y:.*]] = arith.mulf %[[X]], %[[W]]
// CHECK:         call @log(%[[X]])
// CHECK-NOT:     call
// CHECK:         return %[[Y]],

// CHECK-LABEL: func @f_backward(
// CHECK-SAME:    %[[G:[^:]*]]: tensor<4xf32> {fad.cotangent = 0 : i64, test.name = "g"})
// CHECK-SAME:    -> (tensor<4xf32> {fad.gradient = 1 : i64, test.name = "gw"}, tensor<4xf32> {fad.gradient = 0 : i64})
// CHECK-SAME:    attributes {llvm.emit_c_interface}
// CHECK-NOT:     call
// CHECK:         call @log(%[[G]])
// CHECK-NOT:     call
// CHECK:         return
func.func private @log(tensor<4xf32>)
func.func @f_joint(%x: tensor<4xf32> {test.name = "x"},
                   %g: tensor<4xf32> {fad.cotangent = 0 : i64, test.name = "g"},
                   %w: tensor<4xf32> {test.name = "w"})
    -> (tensor<4xf32> {fad.gradient = 1 : i64, test.name = "gw"},
        tensor<4xf32> {test.name = "y"},
        tensor<4xf32> {fad.gradient = 0 : i64})
    attributes {llvm.emit_c_interface} {
  %y = arith.mulf %x, %w : tensor<4xf32>
  call @log(%x) : (tensor<4xf32>) -> ()
  call @log(%g) : (tensor<4xf32>) -> ()
  %gx = arith.mulf %g, %w : tensor<4xf32>
  %gw = arith.mulf %g, %x : tensor<4xf32>
  return %gw, %y, %gx : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
