// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: atan(x) = atan(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e19, 1e19]
// RANGE f64: x in [-1e150, 1e150]
// AT f32 f16 bf16: 1e30 -> 0
// AT: 0 -> 1
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @atan(%x: f32) -> f32 {
  %y = math.atan %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @atan_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[PROD:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[PROD]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[SUM]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32
