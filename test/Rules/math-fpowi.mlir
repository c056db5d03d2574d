// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// The exponent 0 gives the constant 1, also at 0. The derivative decrements the
// exponent in a type in which it does not wrap around.

// VALUE: fpowi(x, n) = x**int(n)
// RANGE: x in [-10, 10], n in [-6, 6]
// AT: 0, 0 -> 0
// AT: 0, 1 -> 1
// AT: 0, 2 -> 0
// AT: 0, -1 -> -inf
// AT: -3, 3 -> 27
// AT: inf, 2 -> inf
// AT: inf, -1 -> 0
// AT: nan, 0 -> 0
// AT: nan, 2 -> nan
// AT: 2, -2147483648 -> 0
// PASSES: --convert-math-to-funcs
func.func @fpowi(%x: f32, %n: i32) -> f32 {
  %z = math.fpowi %x, %n : f32, i32
  return %z : f32
}

// VALUE: narrow(x, n) = x**int(n)
// AT: 1, -128 -> -128
// AT: 2, 3 -> 12
func.func @narrow(%x: f32, %n: i8) -> f32 {
  %z = math.fpowi %x, %n : f32, i8
  return %z : f32
}

func.func @position(%x: f32, %i: index) -> f32 {
  %z = math.fpowi %x, %i : f32, index
  return %z : f32
}

// VALUE: cube(x) = x**3
// RANGE: x in [-10, 10]
// AT: inf -> inf
func.func @cube(%x: f32) -> f32 {
  %n = arith.constant 3 : i32
  %z = math.fpowi %x, %n : f32, i32
  return %z : f32
}

// CHECK-LABEL: func.func @position_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[I:.+]]: index) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE_INT:.+]] = arith.constant 1 : i64
// CHECK-DAG: %[[C:.+]] = arith.constant -9223372036854775807 : i64
// CHECK-DAG: %[[ZERO_INT:.+]] = arith.constant 0 : i64
// CHECK: %[[WIDE:.+]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT: %[[BOUNDED:.+]] = arith.maxsi %[[WIDE]], %[[C]] : i64
// CHECK-NEXT: %[[LESS:.+]] = arith.subi %[[BOUNDED]], %[[ONE_INT]] : i64
// CHECK-NEXT: %[[FACTOR:.+]] = arith.sitofp %[[WIDE]] : i64 to f32
// CHECK-NEXT: %[[FPOWI:.+]] = math.fpowi %[[X]], %[[LESS]] : f32, i64
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpi eq, %[[WIDE]], %[[ZERO_INT]] : i64
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[FACTOR]], %[[FPOWI]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
