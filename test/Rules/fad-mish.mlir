// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The derivative is finite for every x, infinities included. Its error is relative
// but for its zero near -1.19.

// VALUE: mish(x) = x * tanh(log1p(exp(x)))
// RANGE: x in [-5, 5]
// RANGE: x in [-110, 110]
// RANGE f64: x in [-760, 760]
// RANGE: x in [-1e30, 1e30]
// BOUND f64 f32: 20
// AT: 0 -> 3/5
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: -1.5e19 -> 0
// AT: nan -> nan
func.func @mish(%x: f32) -> f32 {
  %y = fad.mish %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @mish_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant -1.120000e+02 : f32
// CHECK-DAG: %[[C3:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-DAG: %[[C4:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG: %[[C5:.+]] = arith.constant 2.000000e+01 : f32
// CHECK: %[[MIN:.+]] = arith.minimumf %[[X]], %[[C5]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[MIN]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[EXP]], %[[C4]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[EXP]], %[[SUM1]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[PROD1]], %[[C4]] : f32
// CHECK-NEXT: %[[QUOT1:.+]] = arith.divf %[[PROD1]], %[[SUM2]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[SUM2]], %[[SUM2]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[PROD1]], %[[EXP]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[DIFF]], %[[C3]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[PROD3]], %[[PROD2]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[MIN]], %[[QUOT2]] : f32
// CHECK-NEXT: %[[SUM3:.+]] = arith.addf %[[QUOT1]], %[[PROD4]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf olt, %[[X]], %[[C2]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[C1]], %[[SUM3]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
