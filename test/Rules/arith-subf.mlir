// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: subf(x, y) = x - y
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// AT: inf, nan -> 1, -1
func.func @subf(%x: f32, %y: f32) -> f32 {
  %z = arith.subf %x, %y : f32
  return %z : f32
}

// CHECK-LABEL: func.func @subf_d0(
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: return %[[ONE]] : f32

// CHECK-LABEL: func.func @subf_d1(
// CHECK-DAG: %[[MINUS_ONE:.+]] = arith.constant -1.000000e+00 : f32
// CHECK: return %[[MINUS_ONE]] : f32
