// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The rounding error of x^2, which exp would magnify, is made up for. Where the
// derivative rounds to zero, zero is a constant; see saturation.mlir.

// VALUE: erf(x) = erf(x)
// RANGE: x in [-4, 4]
// RANGE: x in [-12, 12]
// RANGE f64: x in [-30, 30]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 2/sqrt(pi)
// AT: 1e30 -> 0
// AT: -1e30 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @erf(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @erf_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C1:.+]] = arith.constant 10.2469511 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 1.12837923 : f32
// CHECK-DAG: %[[C3:.+]] = arith.constant 1.062500e+01 : f32
// CHECK: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[ABS]], %[[C3]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[MIN]], %[[MIN]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[PROD1]] : f32
// CHECK-NEXT: %[[FMA:.+]] = math.fma %[[MIN]], %[[MIN]], %[[NEG]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[EXP]], %[[FMA]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[EXP]], %[[PROD2]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[DIFF]], %[[C2]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ogt, %[[ABS]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD3]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
