// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// 1 - y^2 would cancel for large x. Beyond the point where the derivative rounds
// to zero, zero is a constant.

// VALUE: tanh(x) = tanh(x)
// RANGE: x in [-5, 5]
// RANGE: x in [-60, 60]
// RANGE f64: x in [-400, 400]
// RANGE: x in [-1e30, 1e30]
// AT: 0 -> 1
// AT: 1e30 -> 0
// AT: -1e30 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
// FROM-RESULT: 1 absolute
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @tanh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C:.+]] = arith.constant 5.300000e+01 : f32
// CHECK-DAG: %[[FOUR:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[MINUS_TWO:.+]] = arith.constant -2.000000e+00 : f32
// CHECK: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[ABS]], %[[MINUS_TWO]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[PROD1]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[SUM]], %[[SUM]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[EXP]], %[[FOUR]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[PROD3]], %[[PROD2]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ogt, %[[ABS]], %[[C]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[QUOT]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @tanh_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[TANH:.+]] = math.tanh %[[X]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[TANH]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[TANH]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[DIFF]], %[[SUM]] : f32
// CHECK-NEXT: %[[FLAT:.+]] = arith.cmpf oeq, %[[PROD]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[FLAT]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
