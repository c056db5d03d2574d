// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// x^2 + 1 would overflow for large x.

// VALUE: asinh(x) = asinh(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e30, 1e30]
// RANGE f64: x in [-1e300, 1e300]
// AT: 0 -> 1
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @asinh(%x: f32) -> f32 {
  %y = math.asinh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @asinh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[MAX:.+]] = arith.maximumf %[[ABS]], %[[ONE]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[ABS]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT1:.+]] = arith.divf %[[MIN]], %[[MAX]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[QUOT1]], %[[QUOT1]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[PROD1]], %[[ONE]] : f32
// CHECK-NEXT: %[[SQRT:.+]] = math.sqrt %[[SUM]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[MAX]], %[[SQRT]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[ONE]], %[[PROD2]] : f32
// CHECK-NEXT: return %[[QUOT2]] : f32
