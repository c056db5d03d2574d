// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// y * (1 - y) would cancel for large x. Where the derivative rounds to zero, zero
// is a constant; see saturation.mlir.

// VALUE: sigmoid(x) = 1 / (1 + exp(-x))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 1/4
// AT: 1e30 -> 0
// AT: -1e30 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
// FROM-RESULT: 1 absolute
func.func @sigmoid(%x: f32) -> f32 {
  %y = fad.sigmoid %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @sigmoid_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C:.+]] = arith.constant 1.040000e+02 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[QUOT]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[EXP]], %[[QUOT]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[DIFF]], %[[PROD1]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[QUOT]], %[[SEL2]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ogt, %[[ABS]], %[[C]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[PROD2]] : f32
// CHECK-NEXT: return %[[SEL3]] : f32

// CHECK-LABEL: func.func @sigmoid_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[SIGMOID:.+]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[SIGMOID]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[SIGMOID]], %[[DIFF]] : f32
// CHECK-NEXT: %[[FLAT:.+]] = arith.cmpf oeq, %[[PROD]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[FLAT]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
