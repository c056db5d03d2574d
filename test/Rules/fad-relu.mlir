// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// As in PyTorch, the derivative is 0 at 0 and 1 at NaN.

// VALUE: relu(x) = max(x, 0)
// RANGE: x in [-10, 10]
// AT: 0 -> 0
// AT: -0.0 -> 0
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: nan -> 1
// FROM-RESULT: 0
func.func @relu(%x: f32) -> f32 {
  %y = fad.relu %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @relu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP:.+]] = arith.cmpf ole, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[ONE]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @relu_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[RELU:.+]] = fad.relu %[[X]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ole, %[[RELU]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[ONE]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
