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
// CHECK-DAG: %[[C1:.+]] = arith.constant -1.120000e+02 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 1.120000e+02 : f32
// CHECK-DAG: %[[FOUR:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[EXP]], %[[TWO]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[EXP]], %[[SUM1]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[EXP]], %[[TWO]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[PROD2]], %[[ONE]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[PROD1]], %[[SUM2]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[EXP]], %[[EXP]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[PROD3]], %[[TWO]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[TWO]], %[[PROD4]] : f32
// CHECK-NEXT: %[[SUM3:.+]] = arith.addf %[[SEL1]], %[[SEL2]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[PROD3]] : f32
// CHECK-NEXT: %[[PROD5:.+]] = arith.mulf %[[SEL3]], %[[FOUR]] : f32
// CHECK-NEXT: %[[SUM4:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD6:.+]] = arith.mulf %[[PROD5]], %[[SUM4]] : f32
// CHECK-NEXT: %[[QUOT1:.+]] = arith.divf %[[SEL1]], %[[SUM3]] : f32
// CHECK-NEXT: %[[PROD7:.+]] = arith.mulf %[[SUM3]], %[[SUM3]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[PROD6]], %[[PROD7]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[X]], %[[C2]] : f32
// CHECK-NEXT: %[[PROD8:.+]] = arith.mulf %[[MIN]], %[[QUOT2]] : f32
// CHECK-NEXT: %[[SUM5:.+]] = arith.addf %[[QUOT1]], %[[PROD8]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[X]], %[[C1]] : f32
// CHECK-NEXT: %[[SEL4:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[SUM5]] : f32
// CHECK-NEXT: return %[[SEL4]] : f32
