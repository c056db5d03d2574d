// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: sincos(x) = sin(x), cos(x)
// PASSES: --convert-math-to-llvm
// RANGE: x in [-10, 10]
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 1, 0
// AT: inf -> nan, nan
// AT: nan -> nan, nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 0.51
func.func @sincos(%x: f32) -> (f32, f32) {
  %s, %c = math.sincos %x : f32
  return %s, %c : f32, f32
}

// CHECK-LABEL: func.func @sincos_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> (f32, f32) {
// CHECK: %[[SINCOS1:.+]], %[[SINCOS2:.+]] = math.sincos %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[SINCOS1]] : f32
// CHECK-NEXT: return %[[SINCOS2]], %[[NEG]] : f32, f32

// CHECK-LABEL: func.func @sincos_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> (f32, f32) {
// CHECK: %[[SINCOS1:.+]], %[[SINCOS2:.+]] = math.sincos %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[SINCOS1]] : f32
// CHECK-NEXT: return %[[SINCOS2]], %[[NEG]] : f32, f32
