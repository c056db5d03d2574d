// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// As in PyTorch, the derivative outside (-1, 1) is what its formula gives.

// VALUE: atanh(x) = atanh(x)
// RANGE: x in [-0.99, 0.99]
// AT: 0 -> 1
// AT: 1 -> inf
// AT: -1 -> inf
// AT: 2 -> -1/3
// AT: inf -> 0
// AT: nan -> nan
func.func @atanh(%x: f32) -> f32 {
  %y = math.atanh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @atanh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[X]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[DIFF]], %[[SUM]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[PROD]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32
