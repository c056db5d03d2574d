// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: cos(x) = cos(x)
// RANGE: x in [-10, 10]
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 0
// AT: inf -> nan
// AT: -inf -> nan
// AT: nan -> nan
func.func @cos(%x: f32) -> f32 {
  %y = math.cos %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @cos_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK: %[[SIN:.+]] = math.sin %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[SIN]] : f32
// CHECK-NEXT: return %[[NEG]] : f32
