// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: cosh(x) = cosh(x)
// RANGE: x in [-80, 80]
// RANGE f64: x in [-700, 700]
// AT: 0 -> 0
// AT: inf -> inf
// AT: -inf -> -inf
// AT: 1e4 -> inf
// AT: nan -> nan
func.func @cosh(%x: f32) -> f32 {
  %y = math.cosh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @cosh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK: %[[SINH:.+]] = math.sinh %[[X]] : f32
// CHECK-NEXT: return %[[SINH]] : f32
