// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: sinh(x) = sinh(x)
// RANGE: x in [-80, 80]
// RANGE f64: x in [-700, 700]
// AT: 0 -> 1
// AT: inf -> inf
// AT: -inf -> inf
// AT: 1e4 -> inf
// AT: nan -> nan
func.func @sinh(%x: f32) -> f32 {
  %y = math.sinh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @sinh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK: %[[COSH:.+]] = math.cosh %[[X]] : f32
// CHECK-NEXT: return %[[COSH]] : f32
