// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// LLVM 22 documents and expands the operation as
// maximumf(minimumf(value, min), max), so the first bound is the upper one. Bounds
// are inclusive: at a bound, the derivative goes to the value.

// VALUE: clampf(x, a, b) = max(min(x, a), b)
// RANGE: x in [-10, 10], a in [-8, 8], b in [-9, 9]
// AT: 0.5, 1, 0 -> 1, 0, 0
// AT: 1, 1, 0 -> 1, 0, 0
// AT: 0, 1, 0 -> 1, 0, 0
// AT: 1, 1, 1 -> 1, 0, 0
// AT: 2, 1, 1 -> 0, 1, 0
// AT: 0, 1, 1 -> 0, 0, 1
// AT: 5, 0, 1 -> 0, 0, 1
// AT: inf, 1, 0 -> 0, 1, 0
// AT: -inf, 1, 0 -> 0, 0, 1
// AT: nan, 1, 0 -> 0, 0, 0
func.func @clampf(%x: f32, %a: f32, %b: f32) -> f32 {
  %z = math.clampf %x to [%a, %b] : f32
  return %z : f32
}

// CHECK-LABEL: func.func @clampf_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[A:.+]]: f32, %[[B:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf ole, %[[X]], %[[A]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ole, %[[B]], %[[X]] : f32
// CHECK-NEXT: %[[AND:.+]] = arith.andi %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[AND]], %[[ONE]], %[[ZERO]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @clampf_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[A:.+]]: f32, %[[B:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[A]], %[[X]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ole, %[[B]], %[[A]] : f32
// CHECK-NEXT: %[[AND:.+]] = arith.andi %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[AND]], %[[ONE]], %[[ZERO]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @clampf_d2(
// CHECK-SAME: %[[X:.+]]: f32, %[[A:.+]]: f32, %[[B:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[CMP1:.+]] = arith.cmpf olt, %[[X]], %[[B]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf olt, %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[OR:.+]] = arith.ori %[[CMP1]], %[[CMP2]] : i1
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[OR]], %[[ONE]], %[[ZERO]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
