// RUN: fad-opt %s --test-fad-derivative --canonicalize --cse | FileCheck %s
// RUN: %check-rule %s

// Where tanh, erf and sigmoid saturate, the derivative of what they are applied to
// may be infinite. Zero as a constant arm of a select survives the product with it.

// VALUE: new_gelu(x) = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2
// RANGE f64 f32: x in [-8, 8]
// RANGE f64 f32 bf16: x in [20, 1e30]
// BOUND f64 f32: 8 absolute
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: 1.5e19 -> 1
// AT: nan -> nan
func.func @new_gelu(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %c = arith.constant 0.044715 : f32
  %k = arith.constant 0.79788456080286541 : f32
  %cube = math.powf %x, %three : f32
  %scaled = arith.mulf %cube, %c : f32
  %sum = arith.addf %x, %scaled : f32
  %u = arith.mulf %sum, %k : f32
  %t = math.tanh %u : f32
  %s = arith.addf %t, %one : f32
  %h = arith.mulf %x, %half : f32
  %y = arith.mulf %h, %s : f32
  return %y : f32
}

// VALUE: erf_gelu(x) = x * (1 + erf(x / sqrt(2))) / 2
// RANGE f64 f32: x in [-8, 8]
// RANGE f64 f32 bf16: x in [20, 1e30]
// BOUND f64 f32: 8 absolute
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> nan
func.func @erf_gelu(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %k = arith.constant 0.70710678118654752 : f32
  %u = arith.mulf %x, %k : f32
  %t = math.erf %u : f32
  %s = arith.addf %t, %one : f32
  %h = arith.mulf %x, %half : f32
  %y = arith.mulf %h, %s : f32
  return %y : f32
}

// VALUE: quick_gelu(x) = x / (1 + exp(-1.702 * x))
// RANGE f64 f32: x in [-8, 8]
// RANGE f64 f32 bf16: x in [100, 1e30]
// BOUND f64 f32: 8 absolute
// AT: inf -> 1
// AT: -inf -> 0
// AT: 1e30 -> 1
// AT: -1e30 -> 0
// AT: nan -> nan
func.func @quick_gelu(%x: f32) -> f32 {
  %k = arith.constant 1.702 : f32
  %u = arith.mulf %x, %k : f32
  %s = fad.sigmoid %u : f32
  %y = arith.mulf %x, %s : f32
  return %y : f32
}

// VALUE: tanh_of_exp(x) = tanh(exp(x))
// RANGE f64 f32: x in [-8, 3]
// BOUND f64 f32: 100
// AT: 1000 -> 0
// AT: inf -> 0
// AT: -inf -> 0
// AT: nan -> nan
func.func @tanh_of_exp(%x: f32) -> f32 {
  %e = math.exp %x : f32
  %y = math.tanh %e : f32
  return %y : f32
}

// CHECK-LABEL: func.func @new_gelu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C1:.+]] = arith.constant 5.300000e+01 : f32
// CHECK-DAG: %[[FOUR:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-DAG: %[[MINUS_TWO:.+]] = arith.constant -2.000000e+00 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3.000000e+00 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 4.471500e-02 : f32
// CHECK-DAG: %[[C3:.+]] = arith.constant 0.797884583 : f32
// CHECK: %[[POWF:.+]] = math.powf %[[X]], %[[THREE]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[POWF]], %[[C2]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[X]], %[[PROD1]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[SUM1]], %[[C3]] : f32
// CHECK-NEXT: %[[TANH:.+]] = math.tanh %[[PROD2]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[TANH]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[X]], %[[HALF]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[PROD5:.+]] = arith.mulf %[[PROD4]], %[[THREE]] : f32
// CHECK-NEXT: %[[PROD6:.+]] = arith.mulf %[[PROD5]], %[[C2]] : f32
// CHECK-NEXT: %[[SUM3:.+]] = arith.addf %[[PROD6]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD7:.+]] = arith.mulf %[[SUM3]], %[[C3]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[PROD2]] : f32
// CHECK-NEXT: %[[PROD8:.+]] = arith.mulf %[[ABS]], %[[MINUS_TWO]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[PROD8]] : f32
// CHECK-NEXT: %[[SUM4:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD9:.+]] = arith.mulf %[[SUM4]], %[[SUM4]] : f32
// CHECK-NEXT: %[[PROD10:.+]] = arith.mulf %[[EXP]], %[[FOUR]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[PROD10]], %[[PROD9]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ogt, %[[ABS]], %[[C1]] : f32
// CHECK-NEXT: %[[PROD11:.+]] = arith.mulf %[[QUOT]], %[[PROD7]] : f32
// CHECK-NEXT: %[[PROD12:.+]] = arith.mulf %[[SUM2]], %[[HALF]] : f32
// CHECK-NEXT: %[[PROD13:.+]] = arith.mulf %[[PROD3]], %[[PROD11]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD13]] : f32
// CHECK-NEXT: %[[SUM5:.+]] = arith.addf %[[PROD12]], %[[SEL]] : f32
// CHECK-NEXT: return %[[SUM5]] : f32

// CHECK-LABEL: func.func @erf_gelu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C1:.+]] = arith.constant 10.2469511 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 1.12837923 : f32
// CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[C3:.+]] = arith.constant 0.707106769 : f32
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[C3]] : f32
// CHECK-NEXT: %[[ERF:.+]] = math.erf %[[PROD1]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[ERF]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[X]], %[[HALF]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[PROD1]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[ABS]], %{{.+}} : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[MIN]], %[[MIN]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[PROD3]] : f32
// CHECK-NEXT: %[[FMA:.+]] = math.fma %[[MIN]], %[[MIN]], %[[NEG]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[EXP]], %[[FMA]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[EXP]], %[[PROD4]] : f32
// CHECK-NEXT: %[[PROD5:.+]] = arith.mulf %[[DIFF]], %[[C2]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ogt, %[[ABS]], %[[C1]] : f32
// CHECK-NEXT: %[[PROD6:.+]] = arith.mulf %[[PROD5]], %[[C3]] : f32
// CHECK-NEXT: %[[PROD7:.+]] = arith.mulf %[[SUM1]], %[[HALF]] : f32
// CHECK-NEXT: %[[PROD8:.+]] = arith.mulf %[[PROD2]], %[[PROD6]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD8]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[PROD7]], %[[SEL]] : f32
// CHECK-NEXT: return %[[SUM2]] : f32

// CHECK-LABEL: func.func @quick_gelu_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[C1:.+]] = arith.constant 1.040000e+02 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C2:.+]] = arith.constant 1.702000e+00 : f32
// CHECK: %[[PROD1:.+]] = arith.mulf %[[X]], %[[C2]] : f32
// CHECK-NEXT: %[[SIGMOID:.+]] = fad.sigmoid %[[PROD1]] : f32
// CHECK-NEXT: %[[CMP1:.+]] = arith.cmpf olt, %[[PROD1]], %[[ZERO]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[PROD1]] : f32
// CHECK-NEXT: %[[NEG:.+]] = arith.negf %[[ABS]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[NEG]] : f32
// CHECK-NEXT: %[[SEL1:.+]] = arith.select %[[CMP1]], %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[SUM1:.+]] = arith.addf %[[EXP]], %[[ONE]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[SEL1]], %[[SUM1]] : f32
// CHECK-NEXT: %[[DIFF:.+]] = arith.subf %[[ONE]], %[[QUOT]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[EXP]], %[[QUOT]] : f32
// CHECK-NEXT: %[[SEL2:.+]] = arith.select %[[CMP1]], %[[DIFF]], %[[PROD2]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[QUOT]], %[[SEL2]] : f32
// CHECK-NEXT: %[[CMP2:.+]] = arith.cmpf ogt, %[[ABS]], %[[C1]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[PROD3]], %[[C2]] : f32
// CHECK-NEXT: %[[PROD5:.+]] = arith.mulf %[[X]], %[[PROD4]] : f32
// CHECK-NEXT: %[[SEL3:.+]] = arith.select %[[CMP2]], %[[ZERO]], %[[PROD5]] : f32
// CHECK-NEXT: %[[SUM2:.+]] = arith.addf %[[SIGMOID]], %[[SEL3]] : f32
// CHECK-NEXT: return %[[SUM2]] : f32

// CHECK-LABEL: func.func @tanh_of_exp_d0(
// CHECK-SAME: %[[X:.+]]: f32) -> f32 {
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C:.+]] = arith.constant 5.300000e+01 : f32
// CHECK-DAG: %[[FOUR:.+]] = arith.constant 4.000000e+00 : f32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[MINUS_TWO:.+]] = arith.constant -2.000000e+00 : f32
// CHECK: %[[EXP1:.+]] = math.exp %[[X]] : f32
// CHECK-NEXT: %[[ABS:.+]] = math.absf %[[EXP1]] : f32
// CHECK-NEXT: %[[PROD1:.+]] = arith.mulf %[[ABS]], %[[MINUS_TWO]] : f32
// CHECK-NEXT: %[[EXP2:.+]] = math.exp %[[PROD1]] : f32
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[EXP2]], %[[ONE]] : f32
// CHECK-NEXT: %[[PROD2:.+]] = arith.mulf %[[SUM]], %[[SUM]] : f32
// CHECK-NEXT: %[[PROD3:.+]] = arith.mulf %[[EXP2]], %[[FOUR]] : f32
// CHECK-NEXT: %[[QUOT:.+]] = arith.divf %[[PROD3]], %[[PROD2]] : f32
// CHECK-NEXT: %[[CMP:.+]] = arith.cmpf ogt, %[[ABS]], %[[C]] : f32
// CHECK-NEXT: %[[PROD4:.+]] = arith.mulf %[[QUOT]], %[[EXP1]] : f32
// CHECK-NEXT: %[[SEL:.+]] = arith.select %[[CMP]], %[[ZERO]], %[[PROD4]] : f32
// CHECK-NEXT: return %[[SEL]] : f32
