// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The derivative is finite for every x, infinities included. Its error is relative
// but for its zero near -0.75; exp magnifies the error of the cubic polynomial.

// VALUE: gelu(x) = x * erfc(-x / sqrt(2)) / 2
// RANGE: x in [-5, 5]
// RANGE: x in [-16, 16]
// RANGE f64: x in [-40, 40]
// RANGE: x in [-1e30, 1e30]
// BOUND f64 f32: 12
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @gelu(%x: f32) -> f32 {
  %z = fad.gelu %x : f32
  return %z : f32
}

// VALUE: approximate(x) = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2
// RANGE: x in [-5, 5]
// RANGE: x in [-16, 16]
// RANGE f64: x in [-23, 23]
// RANGE: x in [-1e30, 1e30]
// BOUND f64: 256
// BOUND f32: 64
// AT: 0 -> 1/2
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @approximate(%x: f32) -> f32 {
  %z = fad.gelu %x approximate <tanh> : f32
  return %z : f32
}

// CHECK-LABEL: func.func @gelu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant -1.500000e+01 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 0.398942292 : f32
// CHECK-DAG: %[[C3:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[C4:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C5:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[C6:.+]] = arith.constant 0.707106769 : f32
// CHECK-DAG: %[[C7:.+]] = arith.constant 1.500000e+01 : f32
// CHECK: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[ABS]], %[[C7]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[MIN]], %[[C6]] : f32
// CHECK-NEXT: %[[ERFC:.+]] = math.erfc %[[PROD1]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[ERFC]], %[[C5]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[C4]] : f32
// CHECK-NEXT: %[[DIFF1:.+]] = arith.subf %[[C3]], %[[PROD2]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[PROD2]], %[[DIFF1]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[MIN]], %[[MIN]] : f32
// CHECK-NEXT: %[[NEG1:.+]] = arith.negf %[[PROD3]] : f32
// CHECK-NEXT: %[[FMA:.+]] = math.fma %[[MIN]], %[[MIN]], %[[NEG1]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[NEG1]], %[[C5]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[PROD4]] : f32
// CHECK-NEXT: %[[PROD5:.+]] = arith.mulf %[[EXP]], %[[C5]] : f32
// CHECK-NEXT: %[[PROD6:.+]] = arith.mulf %[[PROD5]], %[[FMA]] : f32
// CHECK-NEXT: %[[DIFF2:.+]] = arith.subf %[[EXP]], %[[PROD6]] : f32
// CHECK-NEXT: %[[PROD7:.+]] = arith.mulf %[[DIFF2]], %[[C2]] : f32
// CHECK-NEXT: %[[NEG2:.+]] = arith.negf %[[MIN]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[NEG2]], %[[MIN]] : f32
// CHECK-NEXT: %[[PROD8:.+]] = arith.mulf %[[SEL2]], %[[PROD7]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[SEL1]], %[[PROD8]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[X]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP2]], %[[C4]], %[[SUM]] : f32
// CHECK-NEXT: return %[[SEL3]] : f32

// CHECK-LABEL: func.func @approximate_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant -14.96663 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 0.214064449 : f32
// CHECK-DAG: %[[C3:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[C4:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C5:.+]] = arith.constant 1.59576917 : f32
// CHECK-DAG: %[[C6:.+]] = arith.constant 0.0713548139 : f32
// CHECK-DAG: %[[C7:.+]] = arith.constant 14.96663 : f32
// CHECK: %[[MIN:.+]] = arith.minimumf %[[X]], %[[C7]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[MIN]], %[[MIN]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[PROD1]], %[[C6]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[PROD2]], %[[C5]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[MIN]], %[[SUM1]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf olt, %[[PROD3]], %[[C4]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[PROD3]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[C3]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[EXP]], %[[C3]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM2]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[C3]], %[[QUOT]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[EXP]], %[[QUOT]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[DIFF]], %[[PROD4]] : f32
// CHECK-NEXT: %[[PROD5:.+]] = arith.mulf %[[PROD1]], %[[C2]] : f32
// CHECK-NEXT: %[[SUM3:.+]] = arith.addf %[[PROD5]], %[[C5]] : f32
// CHECK-NEXT: %[[PROD6:.+]] = arith.mulf %[[MIN]], %[[SEL2]] : f32
// CHECK-NEXT: %[[PROD7:.+]] = arith.mulf %[[PROD6]], %[[SUM3]] : f32
// CHECK-NEXT: %[[SUM4:.+]] = arith.addf %[[PROD7]], %[[C3]] : f32
// CHECK-NEXT: %[[PROD8:.+]] = arith.mulf %[[QUOT]], %[[SUM4]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[X]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP2]], %[[C4]], %[[PROD8]] : f32
// CHECK-NEXT: return %[[SEL3]] : f32
