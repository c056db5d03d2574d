// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// VALUE: hardsigmoid(x) = min(max(x + 3, 0), 6) / 6
// RANGE: x in [-10, 10]
// AT: 0 -> 1/6
// AT: 3 -> 0
// AT: -3 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> 0
func.func @hardsigmoid(%x: f32) -> f32 {
  %y = fad.hardsigmoid %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @hardsigmoid_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C:.+]] = arith.constant 0.166666672 : f32
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK-DAG: %[[MINUS_THREE:.+]] = arith.constant -3.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf ogt, %[[X]], %[[MINUS_THREE]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[X]], %[[THREE]] : f32
// CHECK-NEXT: %[[AND:.+]] = arith.andi %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[AND]], %[[C]], %[[ZERO]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
