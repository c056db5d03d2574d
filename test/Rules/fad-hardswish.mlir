// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// As in PyTorch, the derivative is 1 at 3 and at NaN and 0 at -3.

// VALUE: hardswish(x) = x * min(max(x + 3, 0), 6) / 6
// RANGE: x in [-10, 10]
// BOUND f64 f32: 16
// AT: 0 -> 1/2
// AT: 3 -> 1
// AT: -3 -> 0
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> 1
func.func @hardswish(%x: f32) -> f32 {
  %y = fad.hardswish %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @hardswish_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[MINUS_THREE:.+]] = arith.constant -3.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[QUOT:.+]] = arith.divf %[[X]], %[[THREE]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[QUOT]], %[[HALF]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[THREE]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[SUM]], %[[ONE]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ole, %[[X]], %[[MINUS_THREE]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[SEL1]] : f32
// CHECK-NEXT: return %[[SEL2]] : f32
