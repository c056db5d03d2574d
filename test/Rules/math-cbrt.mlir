// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: cbrt(x) = sign(x) * cbrt(abs(x))
// RANGE: x in [-10, 10]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> inf
// AT: -0.0 -> inf
// AT: 8 -> 1/12
// BOUND f64 f32: 6
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 6
// FROM-RESULT f16 bf16: 3
func.func @cbrt(%x: f32) -> f32 {
  %y = math.cbrt %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @cbrt_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[CBRT:.+]] = math.cbrt %[[X]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[CBRT]], %[[CBRT]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[PROD1]], %[[THREE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[PROD2]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @cbrt_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[CBRT:.+]] = math.cbrt %[[X]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[CBRT]], %[[CBRT]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[PROD1]], %[[THREE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[PROD2]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32
