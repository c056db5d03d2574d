// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// As in PyTorch, the derivative is 0 at 0 and at NaN.

// VALUE: absf(x) = abs(x)
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 0
// AT: -0.0 -> 0
// AT: inf -> 1
// AT: -inf -> -1
// AT: nan -> 0
func.func @absf(%x: f32) -> f32 {
  %y = math.absf %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @absf_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[MINUS_ONE:.+]] = arith.constant -1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[MINUS_ONE]], %[[ONE]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf one, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP2]], %[[SEL1]], %[[ZERO]] : f32
// CHECK-NEXT: return %[[SEL2]] : f32
