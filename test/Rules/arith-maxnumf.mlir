// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// Equal operands share the derivative; NaN has none of it.

// VALUE: maxnumf(x, y) = max(x, y)
// RANGE: x in [-1e3, 1e3], y in [-10, 10]
// AT: 1, 2 -> 0, 1
// AT: inf, 1 -> 1, 0
// AT: 1, 1 -> 0.5, 0.5
// AT: 0, -0.0 -> 0.5, 0.5
// AT: inf, inf -> 0.5, 0.5
// AT: nan, 1 -> 0, 1
// AT: 1, nan -> 1, 0
// AT: nan, nan -> 0, 0
func.func @maxnumf(%x: f32, %y: f32) -> f32 {
  %z = arith.maxnumf %x, %y : f32
  return %z : f32
}

// CHECK-LABEL: func.func @maxnumf_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf uno, %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[OR:.+]] = arith.ori %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[CMP3:.+]] = arith.cmpf oeq, %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP3]], %[[HALF]], %[[ONE]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[OR]], %[[ZERO]], %[[SEL1]] : f32
// CHECK-NEXT: return %[[SEL2]] : f32

// CHECK-LABEL: func.func @maxnumf_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[Y]], %[[X]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf uno, %[[Y]], %[[Y]] : f32
// CHECK-NEXT: %[[OR:.+]] = arith.ori %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[CMP3:.+]] = arith.cmpf oeq, %[[Y]], %[[X]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP3]], %[[HALF]], %[[ONE]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[OR]], %[[ZERO]], %[[SEL1]] : f32
// CHECK-NEXT: return %[[SEL2]] : f32
