// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// Derivatives of f16 and bf16 are computed in f32 and rounded once, at the end.

// VALUE: half(x, y) = exp(x * y)
// TYPES: fixed
// AT: 0, 3 -> 3, 0
// AT: 1, 0 -> 0, 1
// AT: 0.5, 2 -> 2*e, 0.5*e
func.func @half(%x: f16, %y: f16) -> f16 {
  %s = arith.mulf %x, %y : f16
  %e = math.exp %s : f16
  return %e : f16
}

// VALUE: brain(x, y) = x * y
// TYPES: fixed
// RANGE: x in [-10, 10], y in [-10, 10]
func.func @brain(%x: bf16, %y: f32) -> bf16 {
  %t = arith.truncf %y : f32 to bf16
  %z = arith.mulf %x, %t : bf16
  return %z : bf16
}

// CHECK-LABEL: func.func @half_d0(
// CHECK-SAME: %[[X:.+]]: f16, %[[Y:.+]]: f16) -> f16 {
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[Y]] : f16
// CHECK-NEXT: %[[EXT1:.+]] = arith.extf %[[Y]] : f16 to f32
// CHECK-NEXT: %[[EXT2:.+]] = arith.extf %[[PROD1]] : f16 to f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[EXT2]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[EXP]], %[[EXT1]] : f32
// CHECK-NEXT: %[[TRUNC:.+]] = arith.truncf %[[PROD2]] : f32 to f16
// CHECK-NEXT: return %[[TRUNC]] : f16

// CHECK-LABEL: func.func @half_d1(
// CHECK-SAME: %[[X:.+]]: f16, %[[Y:.+]]: f16) -> f16 {
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[Y]] : f16
// CHECK-NEXT: %[[EXT1:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[EXT2:.+]] = arith.extf %[[PROD1]] : f16 to f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[EXT2]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[EXP]], %[[EXT1]] : f32
// CHECK-NEXT: %[[TRUNC:.+]] = arith.truncf %[[PROD2]] : f32 to f16
// CHECK-NEXT: return %[[TRUNC]] : f16

// CHECK-LABEL: func.func @brain_d0(
// CHECK-SAME: %{{.+}}: bf16, %[[Y:.+]]: f32) -> bf16 {
// CHECK: %[[TRUNC:.+]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK-NEXT: return %[[TRUNC]] : bf16

// CHECK-LABEL: func.func @brain_d1(
// CHECK-SAME: %[[X:.+]]: bf16, %{{.+}}: f32) -> bf16 {
// CHECK: return %[[X]] : bf16
