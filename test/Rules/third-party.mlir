// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: fad-opt %s --test-fad-derivative=from-results=true --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=RESULT
// RUN: %check-rule %s

// A dialect that fad does not know brings rules of its own: test_rules.cube
// implements the interface, test_rules.hypot has a rule attached.

// VALUE: cube(x) = x**3
// RANGE: x in [-100, 100]
// AT: 0 -> 0
// AT: inf -> inf
// AT: -inf -> inf
// AT: nan -> nan
func.func @cube(%x: f32) -> f32 {
  %y = test_rules.cube %x : f32
  return %y : f32
}

// VALUE: hypot(x, y) = sqrt(x * x + y * y)
// RANGE: x in [-10, 10], y in [-10, 10]
// AT: 3, 4 -> 0.6, 0.8
// AT: 0, 1 -> 0, 1
// AT: nan, 1 -> nan, nan
func.func @hypot(%x: f32, %y: f32) -> f32 {
  %z = test_rules.hypot %x, %y : f32
  return %z : f32
}

// Formulas may call tanh, sigmoid and erf.

// VALUE: log_cosh(x) = log(cosh(x))
// RANGE: x in [-100, 100]
// AT: 0 -> 0
// AT: inf -> 1
// AT: -inf -> -1
// AT: nan -> nan
func.func @log_cosh(%x: f32) -> f32 {
  %y = test_rules.log_cosh %x : f32
  return %y : f32
}

// VALUE: log_one_plus_exp(x) = log(1 + exp(x))
// RANGE: x in [-20, 100]
// AT: 0 -> 0.5
// AT: inf -> 1
// AT: -inf -> 0
// AT: nan -> nan
func.func @log_one_plus_exp(%x: f32) -> f32 {
  %y = test_rules.log_one_plus_exp %x : f32
  return %y : f32
}

// VALUE: integral_of_erf(x) = x * erf(x) + exp(-x * x) / sqrt(pi)
// RANGE: x in [-10, 10]
// AT: 0 -> 0
// AT: inf -> 1
// AT: -inf -> -1
// AT: nan -> nan
func.func @integral_of_erf(%x: f32) -> f32 {
  %y = test_rules.integral_of_erf %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @cube_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[PROD1]], %[[THREE]] : f32
// CHECK-NEXT: return %[[PROD2]] : f32

// CHECK-LABEL: func.func @hypot_d0(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[Y]], %[[Y]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[PROD1]], %[[PROD2]] : f32
// CHECK-NEXT: %[[SQRT:.+]] = math.sqrt %[[SUM]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[X]], %[[SQRT]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @hypot_d1(
// CHECK-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[Y]], %[[Y]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[PROD1]], %[[PROD2]] : f32
// CHECK-NEXT: %[[SQRT:.+]] = math.sqrt %[[SUM]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[Y]], %[[SQRT]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @log_cosh_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-NEXT: %[[TANH:.+]] = math.tanh %[[X]] : f32
// CHECK-NEXT: return %[[TANH]] : f32

// CHECK-LABEL: func.func @log_one_plus_exp_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[ABS:.+]] = math.absf %[[X]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL]], %[[SUM]] : f32
// CHECK-NEXT: return %[[QUOT]] : f32

// CHECK-LABEL: func.func @integral_of_erf_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-NEXT: %[[ERF:.+]] = math.erf %[[X]] : f32
// CHECK-NEXT: return %[[ERF]] : f32

// RESULT-LABEL: func.func @hypot_r1(
// RESULT-SAME: %[[X:.+]]: f32, %[[Y:.+]]: f32) -> f32 {
// RESULT: %[[HYPOT:.+]] = test_rules.hypot %[[X]], %[[Y]] : f32
// RESULT-NEXT: %[[QUOT:.+]] = arith.divf %[[Y]], %[[HYPOT]] : f32
// RESULT-NEXT: return %[[QUOT]] : f32
