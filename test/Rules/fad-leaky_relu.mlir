// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// Only a positive slope lets the derivative be read off the result.

// VALUE: leaky_relu(x) = x if x > 0 else x / 8
// RANGE: x in [-10, 10]
// AT: 0 -> 1/8
// AT: inf -> 1
// AT: -inf -> 1/8
// AT: nan -> 1/8
// FROM-RESULT: 0
func.func @leaky_relu(%x: f32) -> f32 {
  %z = fad.leaky_relu %x slope 0.125 : f32
  return %z : f32
}

// VALUE: negative(x) = x if x > 0 else -x / 2
// RANGE: x in [-10, 10]
// AT: 0 -> -0.5
// AT: -inf -> -0.5
// FROM-RESULT: 0
func.func @negative(%x: f32) -> f32 {
  %z = fad.leaky_relu %x slope -0.5 : f32
  return %z : f32
}

// CHECK-LABEL: func.func @leaky_relu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C:.+]] = arith.constant 1.250000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP:.+]] = arith.cmpf ogt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ONE]], %[[C]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @leaky_relu_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C:.+]] = arith.constant 1.250000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[LEAKY_RELU:.+]] = fad.leaky_relu %[[X]] slope 1.250000e-01 : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ogt, %[[LEAKY_RELU]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ONE]], %[[C]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @negative_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[MINUS_HALF:.+]] = arith.constant -5.000000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP:.+]] = arith.cmpf ogt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ONE]], %[[MINUS_HALF]] : f32
// CHECK-NEXT: return %[[SEL]] : f32

// CHECK-LABEL: func.func @negative_r0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[MINUS_HALF:.+]] = arith.constant -5.000000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[CMP:.+]] = arith.cmpf ogt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ONE]], %[[MINUS_HALF]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
