// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: asin(x) = asin(x)
// RANGE: x in [-0.99, 0.99]
// AT: 0 -> 1
// AT: 1 -> inf
// AT: -1 -> inf
// AT: 2 -> nan
// AT: inf -> nan
// AT: -inf -> nan
// AT: nan -> nan
func.func @asin(%x: f32) -> f32 {
  %y = math.asin %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @asin_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[X]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[X]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[DIFF]], %[[SUM]] : f32
// CHECK-NEXT: %[[RSQRT:.+]] = math.rsqrt %[[PROD]] : f32
// CHECK-NEXT: return %[[RSQRT]] : f32
