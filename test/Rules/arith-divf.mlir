// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The derivative with respect to y does not square it, which could overflow.

// VALUE: divf(x, y) = x / y
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// RANGE: x in [1e25, 1e30], y in [1e22, 1e30]
// AT: 1, 0 -> inf, -inf
// AT: 1, inf -> 0, 0
// AT: inf, 1 -> 1, -inf
// AT: 0, 0 -> inf, nan
// AT: nan, 2 -> 0.5, nan
// BOUND f16 bf16: 0.51
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 2
func.func @divf(%x: f32, %y: f32) -> f32 {
  %z = arith.divf %x, %y : f32
  return %z : f32
}

// CHECK-LABEL: func.func @divf_d0(
// CHECK-SAME: %{{.+}}: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[Y]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @divf_r0(
// CHECK-SAME: %{{.+}}: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[QUOT:.+]] = arith.divf %[[ONE]], %[[Y]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @divf_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK: %[[QUOT1:.+]] = arith.divf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[QUOT1]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[NEG]], %[[Y]] : f32
// CHECK-NEXT: return %[[QUOT2]] : f32

// CHECK-LABEL: func.func @divf_r1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK: %[[QUOT1:.+]] = arith.divf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[QUOT1]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[NEG]], %[[Y]] : f32
// CHECK-NEXT: return %[[QUOT2]] : f32
