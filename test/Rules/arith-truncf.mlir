// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The tangent is rounded with the value, but to f32 where that is f16 or bf16.

// VALUE: half(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e4, 1e4]
// AT: 1e5 -> inf
// AT: nan -> nan
func.func @half(%x: f32) -> f16 {
  %s = arith.mulf %x, %x : f32
  %y = arith.truncf %s : f32 to f16
  return %y : f16
}

// VALUE: single(x) = x * x
// TYPES: fixed
// RANGE: x in [-1e30, 1e30]
// AT: 1e300 -> inf
// AT: 0 -> 0
func.func @single(%x: f64) -> f32 {
  %s = arith.mulf %x, %x : f64
  %y = arith.truncf %s : f64 to f32
  return %y : f32
}

// VALUE: chain(x) = x * x
// TYPES: fixed
// AT: 1.5 -> 3
// AT: -inf -> -inf
func.func @chain(%x: f64) -> f64 {
  %t = arith.truncf %x : f64 to bf16
  %s = arith.mulf %t, %t : bf16
  %y = arith.extf %s : bf16 to f64
  return %y : f64
}

// CHECK-LABEL: func.func @half_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f16 {
// CHECK: %[[SUM:.+]] = arith.addf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[TRUNC:.+]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT: return %[[TRUNC]] : f16

// CHECK-LABEL: func.func @single_d0(
// CHECK-SAME: %[[X:.+]]: f64) -> f32 {
// CHECK: %[[SUM:.+]] = arith.addf %[[X]], %[[X]] : f64
// CHECK-NEXT: %[[TRUNC:.+]] = arith.truncf %[[SUM]] : f64 to f32
// CHECK-NEXT: return %[[TRUNC]] : f32

// CHECK-LABEL: func.func @chain_d0(
// CHECK-SAME: %[[X:.+]]: f64) -> f64 {
// CHECK: %[[TRUNC:.+]] = arith.truncf %[[X]] : f64 to bf16
// CHECK-NEXT: %[[EXT1:.+]] = arith.extf %[[TRUNC]] : bf16 to f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXT1]], %[[EXT1]] : f32
// CHECK-NEXT: %[[EXT2:.+]] = arith.extf %[[SUM]] : f32 to f64
// CHECK-NEXT: return %[[EXT2]] : f64
