// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The derivative is finite for every x, infinities included. Its error is relative
// but for its zero near -1.28.

// VALUE: silu(x) = x / (1 + exp(-x))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// BOUND f64 f32: 20
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @silu(%x: f32) -> f32 {
  %y = fad.silu %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @silu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant -1.120000e+02 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 1.120000e+02 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM1]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[QUOT]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[EXP]], %[[QUOT]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[DIFF]], %[[PROD1]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[X]], %[[C2]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[MIN]], %[[SEL2]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[PROD2]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[QUOT]], %[[SUM2]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[X]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[PROD3]] : f32
// CHECK-NEXT: return %[[SEL3]] : f32
