// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: negf(x) = -x
// RANGE: x in [-1e30, 1e30]
// AT: nan -> -1
// AT: inf -> -1
func.func @negf(%x: f32) -> f32 {
  %y = arith.negf %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @negf_d0(
// CHECK-DAG: %[[MINUS_ONE:.+]] = arith.constant -1.000000e+00 : f32
// CHECK: return %[[MINUS_ONE]] : f32
