// RUN: fad-opt %s --fad-raise | FileCheck %s
// RUN: %python %S/check_raise.py fad-opt mlir-runner %mlir_lib_dir/libmlir_c_runner_utils.so %s

//===----------------------------------------------------------------------===//
// sigmoid
//===----------------------------------------------------------------------===//

// VALUE: sigmoid(x) = sigmoid(x)

// CHECK-LABEL: func.func @sigmoid_reciprocal(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_reciprocal(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.divf %one, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @sigmoid_reciprocal_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_reciprocal_commuted(%x: f32) -> f32 {
  %minus_one = arith.constant -1.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %minus_one : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %one, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @sigmoid_quotient(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_quotient(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %0, %one : f32
  %2 = arith.divf %0, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @sigmoid_quotient_two_exps(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_quotient_two_exps(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = math.exp %x : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.divf %0, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @sigmoid_tanh(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_tanh(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %half : f32
  %1 = math.tanh %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.mulf %2, %half : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @sigmoid_tanh_halved(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_tanh_halved(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.divf %x, %two : f32
  %1 = math.tanh %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.divf %2, %two : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @sigmoid_tanh_distributed(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @sigmoid_tanh_distributed(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %half, %x : f32
  %1 = math.tanh %0 : f32
  %2 = arith.mulf %half, %1 : f32
  %3 = arith.addf %2, %half : f32
  return %3 : f32
}

// Nothing computes -x here.
//
// VALUE: signeg(x) = sigmoid(-x)
// CHECK-LABEL: func.func @signeg_reciprocal(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[X]] : f32
// CHECK-NEXT:    %[[Y:.*]] = fad.sigmoid %[[N]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @signeg_reciprocal(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %one, %0 : f32
  %2 = arith.divf %one, %1 : f32
  return %2 : f32
}

//===----------------------------------------------------------------------===//
// silu
//===----------------------------------------------------------------------===//

// VALUE: silu(x) = x * sigmoid(x)

// CHECK-LABEL: func.func @silu_product(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.silu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @silu_product(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %one, %2 : f32
  %4 = arith.mulf %x, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @silu_product_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.silu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @silu_product_commuted(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %one, %2 : f32
  %4 = arith.mulf %3, %x : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @silu_quotient(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.silu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @silu_quotient(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.divf %x, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @silu_tanh(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.silu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @silu_tanh(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %half : f32
  %1 = math.tanh %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.mulf %2, %half : f32
  %4 = arith.mulf %x, %3 : f32
  return %4 : f32
}

//===----------------------------------------------------------------------===//
// softplus
//===----------------------------------------------------------------------===//

// VALUE: softplus(x) = log1p(exp(x))

// CHECK-LABEL: func.func @softplus_log1p(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @softplus_log1p(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.log1p %0 : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @softplus_log(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @softplus_log(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %one, %0 : f32
  %2 = math.log %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @softplus_log_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @softplus_log_commuted(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %0, %one : f32
  %2 = math.log %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @softplus_stable(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @softplus_stable(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = math.absf %x : f32
  %1 = arith.maximumf %x, %zero : f32
  %2 = arith.negf %0 : f32
  %3 = math.exp %2 : f32
  %4 = math.log1p %3 : f32
  %5 = arith.addf %1, %4 : f32
  return %5 : f32
}

// NaN goes to 0 in the maximum, and comes back with the other term.

// CHECK-LABEL: func.func @softplus_stable_select(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @softplus_stable_select(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = math.absf %x : f32
  %1 = arith.cmpf ogt, %x, %zero : f32
  %2 = arith.select %1, %x, %zero : f32
  %3 = arith.negf %0 : f32
  %4 = math.exp %3 : f32
  %5 = math.log1p %4 : f32
  %6 = arith.addf %2, %5 : f32
  return %6 : f32
}

// The minimum has a kink where the sum has none: at 0 its derivative is 0.5,
// whatever belongs to which branch there.

// VALUE: logsigmoid(x) = -log1p(exp(-x))

// CHECK-LABEL: func.func @logsigmoid_select(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.logsigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @logsigmoid_select(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf olt, %zero, %x : f32
  %1 = arith.select %0, %zero, %x : f32
  %2 = math.absf %x : f32
  %3 = arith.negf %2 : f32
  %4 = math.exp %3 : f32
  %5 = math.log1p %4 : f32
  %6 = arith.subf %1, %5 : f32
  return %6 : f32
}

// CHECK-LABEL: func.func @logsigmoid_minimumf(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.logsigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @logsigmoid_minimumf(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.minimumf %x, %zero {fad.shares_ties} : f32
  %1 = math.absf %x : f32
  %2 = arith.negf %1 : f32
  %3 = math.exp %2 : f32
  %4 = math.log1p %3 : f32
  %5 = arith.negf %4 : f32
  %6 = arith.addf %5, %0 : f32
  return %6 : f32
}

// CHECK-LABEL: func.func @logsigmoid_log(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.logsigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @logsigmoid_log(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.divf %one, %2 : f32
  %4 = math.log %3 : f32
  return %4 : f32
}

// VALUE: softsign(x) = x / (1 + abs(x))

// CHECK-LABEL: func.func @softsign(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softsign %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @softsign(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.absf %x : f32
  %1 = arith.addf %0, %one : f32
  %2 = arith.divf %x, %1 : f32
  return %2 : f32
}

// VALUE: threshold(x) = log1p(exp(x)) if x <= 20 else x
// AT: 20 -> 0.99999999793884631 : where the branches meet, the one of small x

// CHECK-LABEL: func.func @threshold_greater(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] threshold 2.000000e+01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @threshold_greater(%x: f32) -> f32 {
  %twenty = arith.constant 20.0 : f32
  %0 = arith.cmpf ogt, %x, %twenty : f32
  %1 = math.exp %x : f32
  %2 = math.log1p %1 : f32
  %3 = arith.select %0, %x, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @threshold_greater_or_nan(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] threshold 2.000000e+01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @threshold_greater_or_nan(%x: f32) -> f32 {
  %twenty = arith.constant 20.0 : f32
  %0 = arith.cmpf ugt, %x, %twenty : f32
  %1 = math.exp %x : f32
  %2 = math.log1p %1 : f32
  %3 = arith.select %0, %x, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @threshold_not_less_or_equal(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] threshold 2.000000e+01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @threshold_not_less_or_equal(%x: f32) -> f32 {
  %twenty = arith.constant 20.0 : f32
  %0 = arith.cmpf ole, %x, %twenty : f32
  %1 = math.exp %x : f32
  %2 = math.log1p %1 : f32
  %3 = arith.select %0, %2, %x : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @threshold_less_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.softplus %[[X]] threshold 2.000000e+01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @threshold_less_commuted(%x: f32) -> f32 {
  %twenty = arith.constant 20.0 : f32
  %0 = arith.cmpf olt, %twenty, %x : f32
  %1 = math.exp %x : f32
  %2 = math.log1p %1 : f32
  %3 = arith.select %0, %x, %2 : f32
  return %3 : f32
}

//===----------------------------------------------------------------------===//
// mish
//===----------------------------------------------------------------------===//

// VALUE: mish(x) = x * tanh(log1p(exp(x)))

// CHECK-LABEL: func.func @mish_log1p(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.mish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @mish_log1p(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.log1p %0 : f32
  %2 = math.tanh %1 : f32
  %3 = arith.mulf %x, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @mish_log(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.mish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @mish_log(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %one, %0 : f32
  %2 = math.log %1 : f32
  %3 = math.tanh %2 : f32
  %4 = arith.mulf %3, %x : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @mish_threshold(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.mish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @mish_threshold(%x: f32) -> f32 {
  %twenty = arith.constant 20.0 : f32
  %0 = arith.cmpf ogt, %x, %twenty : f32
  %1 = math.exp %x : f32
  %2 = math.log1p %1 : f32
  %3 = arith.select %0, %x, %2 : f32
  %4 = math.tanh %3 : f32
  %5 = arith.mulf %x, %4 : f32
  return %5 : f32
}

//===----------------------------------------------------------------------===//
// expm1
//===----------------------------------------------------------------------===//

// VALUE: expm1(x) = expm1(x)

// CHECK-LABEL: func.func @expm1_sub(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = math.expm1 %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @expm1_sub(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.subf %0, %one : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @expm1_add(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = math.expm1 %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @expm1_add(%x: f32) -> f32 {
  %minus_one = arith.constant -1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %minus_one, %0 : f32
  return %1 : f32
}

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @kept_other_constant(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_constant(%x: f32) -> f32 {
  %c1_0000001 = arith.constant 1.0000001 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %c1_0000001, %1 : f32
  %3 = arith.divf %one, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @kept_other_numerator(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_numerator(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.negf %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.divf %two, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @kept_other_sign(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_sign(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.negf %x : f32
  %2 = math.exp %1 : f32
  %3 = arith.addf %one, %2 : f32
  %4 = arith.divf %0, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @kept_tanh_of_x(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_tanh_of_x(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = math.tanh %x : f32
  %1 = arith.addf %0, %one : f32
  %2 = arith.mulf %1, %half : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @kept_exp_minus_two(
// CHECK-NOT:     {{fad\.|math.expm1}}
// CHECK:         return
func.func @kept_exp_minus_two(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.subf %0, %two : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @kept_one_minus_exp(
// CHECK-NOT:     {{fad\.|math.expm1}}
// CHECK:         return
func.func @kept_one_minus_exp(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.subf %one, %0 : f32
  return %1 : f32
}
