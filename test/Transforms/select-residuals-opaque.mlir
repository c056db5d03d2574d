// Operations of another framework: which are repeated follows from their kinds.

// RUN: fad-opt %s --fad-select-residuals=policy=auto | FileCheck %s --check-prefixes=CHECK,ELEMENTWISE
// RUN: fad-opt %s --fad-select-residuals="policy=auto recompute=reductions" | FileCheck %s --check-prefixes=CHECK,REDUCTIONS
// RUN: fad-opt %s --fad-select-residuals="policy=auto recompute=all" | FileCheck %s --check-prefixes=CHECK,REDUCTIONS

// A random mask and a product are kept; the sine is repeated, and no view is kept.

// CHECK-LABEL: func @kinds(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>
func.func @kinds(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %g: tensor<4x8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4x8xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  // CHECK:     %[[MASK:.*]] = fad.opaque "random" keep
  %mask = fad.opaque "random" keep () : () -> tensor<4x8xf32>
  // CHECK:     %[[Y:.*]] = fad.opaque "mm" contraction
  %y = fad.opaque "mm" contraction (%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v = fad.opaque "view" view (%y) : (tensor<4x8xf32>) -> tensor<32xf32>
  %s = fad.opaque "sin" elementwise (%v) : (tensor<32xf32>) -> tensor<32xf32>
  // CHECK-NEXT: %[[RY:.*]] = fad.residual %[[Y]] needed_by []
  // CHECK-NEXT: fad.residual %[[MASK]] needed_by []
  // CHECK-NEXT: %[[RV:.*]] = fad.opaque "view" view (%[[RY]])
  // CHECK-NEXT: fad.opaque "sin" elementwise (%[[RV]])
  %dy = fad.opaque "backward" keep (%g, %s, %mask) : (tensor<4x8xf32>, tensor<32xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %dy : tensor<4x8xf32>, tensor<4x8xf32>
}

// The level decides whether the sums or their operand, an argument, are kept.

// CHECK-LABEL:     func @sums(
// CHECK-SAME:       %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:             %[[S:.*]] = fad.opaque "sum" reduction
// ELEMENTWISE:       fad.residual %[[S]]
// REDUCTIONS:        %[[R:.*]] = fad.residual %[[X]]
// REDUCTIONS:        fad.opaque "sum" reduction (%[[R]])
func.func @sums(%x: tensor<4x8xf32>, %g: tensor<4xf32> {fad.cotangent = 0 : i64})
    -> (tensor<4xf32>, tensor<4x8xf32> {fad.gradient = 0 : i64}) {
  %s = fad.opaque "sum" reduction (%x) : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = fad.opaque "sin" elementwise (%s) : (tensor<4xf32>) -> tensor<4xf32>
  %dx = fad.opaque "backward" keep (%g, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return %y, %dx : tensor<4xf32>, tensor<4x8xf32>
}

// The sum between two checkpoints is saved: from it, backward repeats the second one
// without the first.

// CHECK-LABEL: func @checkpoints(
// CHECK:         %[[Y:.*]] = fad.opaque "first" repeat
// CHECK:         %[[S:.*]] = fad.opaque "add" elementwise (%{{.*}}, %[[Y]])
// CHECK:         %[[R:.*]] = fad.residual %[[S]]
// CHECK-NOT:     fad.opaque "first"
// CHECK:         fad.opaque "second" repeat (%[[R]])
// CHECK-NOT:     fad.opaque "first"
func.func @checkpoints(%x: tensor<8xf32>, %g: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32>, tensor<8xf32> {fad.gradient = 0 : i64}) {
  %y = fad.opaque "first" repeat (%x) : (tensor<8xf32>) -> tensor<8xf32>
  %s = fad.opaque "add" elementwise (%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %z = fad.opaque "second" repeat (%s) : (tensor<8xf32>) -> tensor<8xf32>
  %w = fad.opaque "last" keep (%z) : (tensor<8xf32>) -> tensor<8xf32>
  %dx = fad.opaque "backward" keep (%g, %z) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %w, %dx : tensor<8xf32>, tensor<8xf32>
}
