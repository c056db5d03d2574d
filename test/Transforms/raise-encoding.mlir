// RUN: fad-opt %s --fad-raise | FileCheck %s
// RUN: fad-opt %s --fad-nest=entry=relu | FileCheck %s --check-prefix=NEST

// A tensor with an encoding keeps it.

// CHECK-LABEL: func @relu(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32, "layout">
// CHECK:         %[[R:.*]] = fad.relu %[[X]] : tensor<4x4xf32, "layout">
// CHECK:         %[[Y:.*]] = linalg.exp ins(%[[R]] : tensor<4x4xf32, "layout">)
// CHECK:         return %[[Y]]
// NEST:        func.func @relu_backward({{.*}}: tensor<4x4xf32, "layout"> {fad.cotangent = 0 : i64}) -> (tensor<4x4xf32, "layout">
func.func @relu(%x: tensor<4x4xf32, "layout">) -> tensor<4x4xf32, "layout"> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32, "layout">
  %0 = arith.maximumf %x, %zero : tensor<4x4xf32, "layout">
  %1 = linalg.exp ins(%0 : tensor<4x4xf32, "layout">) outs(%x : tensor<4x4xf32, "layout">) -> tensor<4x4xf32, "layout">
  return %1 : tensor<4x4xf32, "layout">
}
