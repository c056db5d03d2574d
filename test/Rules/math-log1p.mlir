// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: log1p(x) = log1p(x)
// RANGE: x in [-0.99, 10]
// RANGE: x in [-0.99, 1e30]
// AT: 0 -> 1
// AT: -1 -> inf
// AT: -2 -> -1
// AT: inf -> 0
// AT: nan -> nan
func.func @log1p(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @log1p_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[SUM:.+]] = arith.addf %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[SUM]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32
