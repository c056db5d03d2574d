// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// As in PyTorch, the exponent 0 gives the constant 1 and the base 0, with an
// exponent that is not negative, the constant 0.

// VALUE: powf(x, y) = x**y
// RANGE: x in [0.1, 10], y in [-5, 5]
// RANGE: x in [1e-3, 1e3], y in [-3, 3]
// BOUND f64 f32: 12
// AT: 0, 2 -> 0, 0
// AT: 0, 1 -> 1, 0
// AT: 0, 0.5 -> inf, 0
// AT: 0, 0 -> 0, 0
// AT: 0, -1 -> -inf, -inf
// AT: -2, 3 -> 12, nan
// AT: -2, 0 -> 0, nan
// AT: inf, 2 -> inf, inf
// AT: inf, 0 -> 0, inf
// AT: 2, inf -> inf, inf
// AT: 2, -inf -> nan, 0
// AT: nan, 0 -> 0, nan
// AT: 1, nan -> nan, 0
// AT: 2, nan -> nan, nan
// FROM-RESULT f64 f32: 12
// FROM-RESULT f16 bf16: 2
func.func @powf(%x: f32, %y: f32) -> f32 {
  %z = math.powf %x, %y : f32
  return %z : f32
}

// VALUE: square(x) = x**2
// RANGE: x in [-1e4, 1e4]
// AT: 0 -> 0
// AT: inf -> inf
// FROM-RESULT: 4
func.func @square(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %z = math.powf %x, %two : f32
  return %z : f32
}

// VALUE: cube(x) = x**3
// RANGE: x in [-100, 100]
// AT: 0 -> 0
// AT: inf -> inf
// FROM-RESULT: 4
func.func @cube(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %z = math.powf %x, %three : f32
  return %z : f32
}

// VALUE: root(x) = x**0.5
// RANGE: x in [0.1, 1e4]
// AT: 0 -> inf
// AT: inf -> 0
// FROM-RESULT: 4
func.func @root(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %z = math.powf %x, %half : f32
  return %z : f32
}

// VALUE: one(x) = x**0
// RANGE: x in [0.1, 10]
// AT: 0 -> 0
// AT: nan -> 0
// FROM-RESULT: 4
func.func @one(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %z = math.powf %x, %zero : f32
  return %z : f32
}

// CHECK-LABEL: func.func @powf_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[DIFF:.+]] = arith.subf %[[Y]], %[[ONE]] : f32
// CHECK-NEXT: %[[POWF:.+]] = math.powf %[[X]], %[[DIFF]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[Y]], %[[POWF]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf oeq, %[[Y]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @powf_r0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[DIFF:.+]] = arith.subf %[[Y]], %[[ONE]] : f32
// CHECK-NEXT: %[[POWF:.+]] = math.powf %[[X]], %[[DIFF]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[Y]], %[[POWF]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf oeq, %[[Y]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @powf_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf oge, %[[Y]], %[[ZERO]] : f32
// CHECK-NEXT: %[[POWF:.+]] = math.powf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[LOG:.+]] = math.log %[[X]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[POWF]], %[[LOG]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf oeq, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[AND:.+]] = arith.andi %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[AND]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @powf_r1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[POWF:.+]] = math.powf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf ole, %[[POWF]], %[[ONE]] : f32
// CHECK-NEXT: %[[LOG:.+]] = math.log %[[X]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[POWF]], %[[LOG]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf oeq, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[AND:.+]] = arith.andi %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[AND]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @square_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[PROD:.+]] = arith.mulf %[[X]], %[[TWO]] : f32
// CHECK-NEXT: return %[[PROD]] : f32

// CHECK-LABEL: func.func @square_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[TWO:.+]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[PROD:.+]] = arith.mulf %[[X]], %[[TWO]] : f32
// CHECK-NEXT: return %[[PROD]] : f32

// CHECK-LABEL: func.func @cube_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[PROD1]], %[[THREE]] : f32
// CHECK-NEXT: return %[[PROD2]] : f32

// CHECK-LABEL: func.func @cube_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[PROD1]], %[[THREE]] : f32
// CHECK-NEXT: return %[[PROD2]] : f32

// CHECK-LABEL: func.func @root_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[MINUS_HALF:.+]] = arith.constant -5.000000e-01 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[POWF:.+]] = math.powf %[[X]], %[[MINUS_HALF]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[POWF]], %[[HALF]] : f32
// CHECK-NEXT: return %[[PROD]] : f32

// CHECK-LABEL: func.func @root_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[MINUS_HALF:.+]] = arith.constant -5.000000e-01 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[POWF:.+]] = math.powf %[[X]], %[[MINUS_HALF]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[POWF]], %[[HALF]] : f32
// CHECK-NEXT: return %[[PROD]] : f32

// CHECK-LABEL: func.func @one_d0(
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: return %[[ZERO]] : f32

// CHECK-LABEL: func.func @one_r0(
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: return %[[ZERO]] : f32
