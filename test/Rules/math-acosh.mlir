// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: acosh(x) = acosh(x)
// RANGE: x in [1.02, 10]
// RANGE: x in [1.02, 1e30]
// RANGE f64: x in [1.5, 1e300]
// AT: 1 -> inf
// AT: 0.5 -> nan
// AT: -2 -> nan
// AT: inf -> 0
// AT: -inf -> nan
// AT: nan -> nan
func.func @acosh(%x: f32) -> f32 {
  %y = math.acosh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @acosh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[DIFF:.+]] = arith.subf %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %[[SQRT1:.+]] = math.sqrt %[[DIFF]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %[[SQRT2:.+]] = math.sqrt %[[SUM]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[SQRT1]], %[[SQRT2]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[PROD]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32
