// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: sqrt(x) = sqrt(x)
// RANGE: x in [1e-3, 10]
// RANGE: x in [1e-4, 1e4]
// RANGE f64 f32 bf16: x in [1e-30, 1e30]
// AT: 0 -> inf
// AT: -1 -> nan
// AT: inf -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 2
func.func @sqrt(%x: f32) -> f32 {
  %y = math.sqrt %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @sqrt_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[SQRT:.+]] = math.sqrt %[[X]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[HALF]], %[[SQRT]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @sqrt_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[SQRT:.+]] = math.sqrt %[[X]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[HALF]], %[[SQRT]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32
