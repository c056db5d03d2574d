// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// Like absf, the derivative is 0 where x is 0 or NaN.

// VALUE: copysign(x, y) = abs(x) * sign(y)
// RANGE: x in [-10, 10], y in [-10, 10]
// AT: 2, -0.0 -> -1, 0
// AT: -2, -3 -> 1, 0
// AT: 0, 1 -> 0, 0
// AT: -0.0, 1 -> 0, 0
// AT: inf, -1 -> -1, 0
// AT: nan, 1 -> 0, 0
// PASSES: --convert-math-to-llvm
func.func @copysign(%x: f32, %y: f32) -> f32 {
  %z = math.copysign %x, %y : f32
  return %z : f32
}

// CHECK-LABEL: func.func @copysign_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[MINUS_ONE:.+]] = arith.constant -1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[SIGN:.+]] = math.copysign %[[ONE]], %[[Y]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[MINUS_ONE]], %[[ONE]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf one, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP2]], %[[SEL1]], %[[ZERO]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[SIGN]], %[[SEL2]] : f32
// CHECK-NEXT: return %[[PROD]] : f32

// CHECK-LABEL: func.func @copysign_d1(
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: return %[[ZERO]] : f32
