// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// x^2 + y^2 would overflow for large x or y. As in PyTorch, the derivatives are 0
// at the origin.

// VALUE: atan2(x, y) = atan2(x, y)
// RANGE: x in [-10, 10], y in [-10, 10]
// RANGE: x in [-1e30, 1e30], y in [-1e30, 1e30]
// RANGE f64: x in [-1e300, 1e300], y in [-1e300, 1e300]
// AT: 0, 1 -> 1, 0
// AT: 1, 0 -> 0, -1
// AT: 0, -2 -> -0.5, 0
// AT: inf, 1 -> 0, 0
// AT: 1, -inf -> 0, 0
// AT: 0, 0 -> 0, 0
// AT: -0.0, 0 -> 0, 0
// AT: inf, inf -> nan, nan
// AT: nan, 1 -> nan, nan
func.func @atan2(%x: f32, %y: f32) -> f32 {
  %z = math.atan2 %x, %y : f32
  return %z : f32
}

// CHECK-LABEL: func.func @atan2_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[ABS1:.+]] = math.absf %[[Y]] : f32
// CHECK-NEXT: %[[ABS2:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf oge, %[[ABS1]], %[[ABS2]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[Y]], %[[X]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[QUOT1:.+]] = arith.divf %[[SEL2]], %[[SEL1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP1]], %[[ONE]], %[[QUOT1]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[SEL2]], %[[QUOT1]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[SEL1]], %[[PROD]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[SEL3]], %[[SUM]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf oeq, %[[SEL1]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL4:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[QUOT2]] : f32
// CHECK-NEXT: return %[[SEL4]] : f32

// CHECK-LABEL: func.func @atan2_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[ABS1:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[ABS2:.+]] = math.absf %[[Y]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf oge, %[[ABS1]], %[[ABS2]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[Y]], %[[X]] : f32
// CHECK-NEXT: %[[QUOT1:.+]] = arith.divf %[[SEL2]], %[[SEL1]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP1]], %[[ONE]], %[[QUOT1]] : f32
// CHECK-NEXT: %[[PROD:.+]] = arith.mulf %[[SEL2]], %[[QUOT1]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[SEL1]], %[[PROD]] : f32
// CHECK-NEXT: %[[QUOT2:.+]] = arith.divf %[[SEL3]], %[[SUM]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf oeq, %[[SEL1]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL4:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[QUOT2]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[SEL4]] : f32
// CHECK-NEXT: return %[[NEG]] : f32
