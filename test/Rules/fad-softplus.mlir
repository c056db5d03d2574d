// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// Above the threshold, the derivative is exactly 1, which the result does not say
// exactly.

// VALUE: softplus(x) = log1p(exp(x))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
// FROM-RESULT f64 f32: 4
// FROM-RESULT f16 bf16: 2
func.func @softplus(%x: f32) -> f32 {
  %z = fad.softplus %x : f32
  return %z : f32
}

// VALUE: threshold(x) = log1p(exp(x)) if x <= 20 else x
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// AT: 20 -> 1/(1+exp(-20))
// AT: 20.125 -> 1
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
// FROM-RESULT: 4
func.func @threshold(%x: f32) -> f32 {
  %z = fad.softplus %x threshold 20.0 : f32
  return %z : f32
}

// CHECK-LABEL: func.func @softplus_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C:.+]] = arith.constant -1.040000e+02 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[X]], %[[C]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[QUOT]] : f32
// CHECK-NEXT: return %[[SEL2]] : f32

// CHECK-LABEL: func.func @softplus_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK: %[[SOFTPLUS:.+]] = fad.softplus %[[X]] : f32
// CHECK-NEXT: %[[NEG1:.+]] = arith.negf %[[SOFTPLUS]] : f32
// CHECK-NEXT: %[[EXPM1:.+]] = math.expm1 %[[NEG1]] : f32
// CHECK-NEXT: %[[NEG2:.+]] = arith.negf %[[EXPM1]] : f32
// CHECK-NEXT: return %[[NEG2]] : f32

// CHECK-LABEL: func.func @threshold_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant -1.040000e+02 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 2.000000e+01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ogt, %[[X]], %[[C2]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP2]], %[[ONE]], %[[QUOT]] : f32
// CHECK-NEXT: %[[CMP3:.+]] = arith.cmpf olt, %[[X]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP3]], %[[ZERO]], %[[SEL2]] : f32
// CHECK-NEXT: return %[[SEL3]] : f32

// CHECK-LABEL: func.func @threshold_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant -1.040000e+02 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 2.000000e+01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ogt, %[[X]], %[[C2]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP2]], %[[ONE]], %[[QUOT]] : f32
// CHECK-NEXT: %[[CMP3:.+]] = arith.cmpf olt, %[[X]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP3]], %[[ZERO]], %[[SEL2]] : f32
// CHECK-NEXT: return %[[SEL3]] : f32
