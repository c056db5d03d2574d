// RUN: fad-opt %s --fad-nest=policy=fad | FileCheck %s
// RUN: fad-opt %s --fad-nest=policy=recompute | FileCheck %s
// RUN: fad-opt %s --fad-nest=policy=bp | FileCheck %s
// RUN: fad-runner %s --policy=fad --check-gradients

// A chain that is linear has a constant derivative, of which no tensor is kept.
// CHECK-LABEL: func.func @linear_forward(
// CHECK-SAME:      %{{[^,)]*}}: tensor<4x5xf32>, %{{[^,)]*}}: tensor<4x5xf32>) -> tensor<4x5xf32> attributes {fad.pullback = @linear_backward} {
// CHECK-LABEL: func.func @linear_backward(
// CHECK-SAME:      %[[COTANGENT:[^,)]*]]: tensor<4x5xf32> {fad.cotangent = 0 : i64})
// CHECK:         %[[GRADIENT:.*]] = fad.elementwise ins(%[[COTANGENT]] : tensor<4x5xf32>)
// CHECK:           %[[FACTOR:.*]] = arith.constant -2.000000e+01 : f32
// CHECK:           arith.mulf %{{.*}}, %[[FACTOR]] : f32
// CHECK:         return %[[GRADIENT]], %[[GRADIENT]]
func.func @linear(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %half = arith.constant dense<0.5> : tensor<4x5xf32>
  %ten = arith.constant dense<10.0> : tensor<4x5xf32>
  %sum = arith.addf %x, %y : tensor<4x5xf32>
  %quotient = arith.divf %sum, %half : tensor<4x5xf32>
  %negated = arith.negf %quotient : tensor<4x5xf32>
  %product = arith.mulf %negated, %ten : tensor<4x5xf32>
  return %product : tensor<4x5xf32>
}
