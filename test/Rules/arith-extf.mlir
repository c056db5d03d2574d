// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The tangent of f16 and bf16 is f32 already; from f32 to f64 it is extended.

// VALUE: narrow(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e4, 1e4]
// AT: inf -> inf
// AT: 1e-7 -> 2**-22
func.func @narrow(%x: f16) -> f32 {
  %e = arith.extf %x : f16 to f32
  %y = arith.mulf %e, %e : f32
  return %y : f32
}

// VALUE: wide(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e30, 1e30]
// AT: nan -> nan
func.func @wide(%x: f32) -> f64 {
  %e = arith.extf %x : f32 to f64
  %y = arith.mulf %e, %e : f64
  return %y : f64
}

// VALUE: brain(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e30, 1e30]
// AT: -inf -> -inf
func.func @brain(%x: bf16) -> f64 {
  %e = arith.extf %x : bf16 to f64
  %y = arith.mulf %e, %e : f64
  return %y : f64
}

// CHECK-LABEL: func.func @narrow_d0(
// CHECK-SAME: %[[X:.+]]: f16) -> f32 {
// CHECK: %[[EXT:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXT]], %[[EXT]] : f32
// CHECK-NEXT: return %[[SUM]] : f32

// CHECK-LABEL: func.func @wide_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f64 {
// CHECK: %[[EXT:.+]] = arith.extf %[[X]] : f32 to f64
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXT]], %[[EXT]] : f64
// CHECK-NEXT: return %[[SUM]] : f64

// CHECK-LABEL: func.func @brain_d0(
// CHECK-SAME: %[[X:.+]]: bf16) -> f64 {
// CHECK: %[[EXT:.+]] = arith.extf %[[X]] : bf16 to f64
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXT]], %[[EXT]] : f64
// CHECK-NEXT: return %[[SUM]] : f64
