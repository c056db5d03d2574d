// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: tan(x) = tan(x)
// RANGE: x in [-1.5, 1.5]
// RANGE: x in [-100, 100]
// BOUND f64 f32: 5
// AT: 0 -> 1
// AT: inf -> nan
// AT: nan -> nan
// FROM-RESULT f64 f32: 5
// FROM-RESULT f16 bf16: 2
func.func @tan(%x: f32) -> f32 {
  %y = math.tan %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @tan_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[TAN:.+]] = math.tan %[[X]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[TAN]], %[[TAN]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[PROD]], %[[ONE]] : f32
// CHECK-NEXT: return %[[SUM]] : f32

// CHECK-LABEL: func.func @tan_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[TAN:.+]] = math.tan %[[X]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[TAN]], %[[TAN]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[PROD]], %[[ONE]] : f32
// CHECK-NEXT: return %[[SUM]] : f32
