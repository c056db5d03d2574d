// RUN: fad-opt %s --fad-raise | FileCheck %s
// RUN: %python %S/check_raise.py fad-opt mlir-runner %mlir_lib_dir/libmlir_c_runner_utils.so %s

//===----------------------------------------------------------------------===//
// relu
//===----------------------------------------------------------------------===//

// VALUE: relu(x) = max(x, 0)
// AT: 0 -> 0

// CHECK-LABEL: func.func @relu_maximumf(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_maximumf(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maximumf %x, %zero : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @relu_maximumf_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_maximumf_commuted(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maximumf %zero, %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @relu_select_greater(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_select_greater(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ugt, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @relu_select_less_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_select_less_commuted(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ult, %zero, %x : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @relu_select_less_or_equal(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_select_less_or_equal(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ole, %x, %zero : f32
  %1 = arith.select %0, %zero, %x : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @relu_select_greater_or_equal_commuted(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_select_greater_or_equal_commuted(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf oge, %zero, %x : f32
  %1 = arith.select %0, %zero, %x : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @relu_maxnumf_nnan(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] fastmath<nnan> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_maxnumf_nnan(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maxnumf %x, %zero fastmath<nnan> : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @relu_select_nnan(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.relu %[[X]] fastmath<nnan> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @relu_select_nnan(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ogt, %x, %zero fastmath<nnan> : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

//===----------------------------------------------------------------------===//
// leaky_relu
//===----------------------------------------------------------------------===//

// VALUE: leaky(x) = x if x > 0 else x / 4
// AT: 0 -> 0.25

// CHECK-LABEL: func.func @leaky_select(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.leaky_relu %[[X]] slope 2.500000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @leaky_select(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0_25 = arith.constant 0.25 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = arith.mulf %c0_25, %x : f32
  %2 = arith.select %0, %x, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @leaky_select_unordered(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.leaky_relu %[[X]] slope 2.500000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @leaky_select_unordered(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0_25 = arith.constant 0.25 : f32
  %0 = arith.cmpf ugt, %x, %zero : f32
  %1 = arith.mulf %x, %c0_25 : f32
  %2 = arith.select %0, %x, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @leaky_select_less_or_equal(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.leaky_relu %[[X]] slope 2.500000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @leaky_select_less_or_equal(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c4 = arith.constant 4.0 : f32
  %0 = arith.cmpf ule, %x, %zero : f32
  %1 = arith.divf %x, %c4 : f32
  %2 = arith.select %0, %1, %x : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @leaky_sum_of_selects(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.leaky_relu %[[X]] slope 2.500000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @leaky_sum_of_selects(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0_25 = arith.constant 0.25 : f32
  %0 = arith.cmpf ogt, %zero, %x : f32
  %1 = arith.select %0, %zero, %x : f32
  %2 = arith.cmpf olt, %zero, %x : f32
  %3 = arith.select %2, %zero, %x : f32
  %4 = arith.mulf %3, %c0_25 : f32
  %5 = arith.addf %1, %4 : f32
  return %5 : f32
}

// CHECK-LABEL: func.func @leaky_sum(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.leaky_relu %[[X]] slope 2.500000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @leaky_sum(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0_25 = arith.constant 0.25 : f32
  %0 = arith.minimumf %x, %zero : f32
  %1 = arith.mulf %0, %c0_25 : f32
  %2 = arith.maximumf %x, %zero : f32
  %3 = arith.addf %1, %2 : f32
  return %3 : f32
}

//===----------------------------------------------------------------------===//
// elu
//===----------------------------------------------------------------------===//

// VALUE: elu(x) = x if x > 0 else expm1(x)

// CHECK-LABEL: func.func @elu_select(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @elu_select(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = math.exp %x : f32
  %2 = arith.subf %1, %one : f32
  %3 = arith.select %0, %x, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @elu_select_expm1(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @elu_select_expm1(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = math.expm1 %x : f32
  %2 = arith.select %0, %x, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @elu_select_greater_or_equal(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @elu_select_greater_or_equal(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf oge, %x, %zero : f32
  %1 = math.expm1 %x : f32
  %2 = arith.select %0, %x, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @elu_select_guarded(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @elu_select_guarded(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = arith.cmpf ogt, %x, %zero : f32
  %2 = arith.select %1, %zero, %x : f32
  %3 = math.expm1 %2 : f32
  %4 = arith.select %0, %x, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @elu_sum_of_selects(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @elu_sum_of_selects(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.cmpf ogt, %zero, %x : f32
  %1 = arith.select %0, %zero, %x : f32
  %2 = arith.cmpf olt, %zero, %x : f32
  %3 = arith.select %2, %zero, %x : f32
  %4 = math.exp %3 : f32
  %5 = arith.subf %4, %one : f32
  %6 = arith.addf %1, %5 : f32
  return %6 : f32
}

// CHECK-LABEL: func.func @elu_sum(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @elu_sum(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maximumf %x, %zero : f32
  %1 = arith.minimumf %x, %zero : f32
  %2 = math.expm1 %1 : f32
  %3 = arith.addf %0, %2 : f32
  return %3 : f32
}

// VALUE: halfelu(x) = x if x > 0 else expm1(x) / 2
// AT: 0 -> 0.5

// CHECK-LABEL: func.func @halfelu_select(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] alpha 5.000000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @halfelu_select(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = math.exp %x : f32
  %2 = arith.subf %1, %one : f32
  %3 = arith.mulf %half, %2 : f32
  %4 = arith.select %0, %x, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @halfelu_sum(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.elu %[[X]] alpha 5.000000e-01 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @halfelu_sum(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.maximumf %x, %zero : f32
  %1 = arith.minimumf %x, %zero : f32
  %2 = math.expm1 %1 : f32
  %3 = arith.divf %2, %two : f32
  %4 = arith.addf %0, %3 : f32
  return %4 : f32
}

//===----------------------------------------------------------------------===//
// celu
//===----------------------------------------------------------------------===//

// VALUE: celu(x) = x if x > 0 else 2 * expm1(x / 2)

// CHECK-LABEL: func.func @celu_where(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.celu %[[X]] alpha 2.000000e+00 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @celu_where(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.divf %x, %two : f32
  %1 = math.expm1 %0 : f32
  %2 = arith.mulf %1, %two : f32
  %3 = arith.cmpf ole, %x, %zero : f32
  %4 = arith.select %3, %2, %x : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @celu_min(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.celu %[[X]] alpha 2.000000e+00 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @celu_min(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.minimumf %x, %zero : f32
  %1 = arith.divf %0, %two : f32
  %2 = math.exp %1 : f32
  %3 = arith.subf %2, %one : f32
  %4 = arith.mulf %two, %3 : f32
  %5 = arith.cmpf ogt, %x, %zero : f32
  %6 = arith.select %5, %x, %4 : f32
  return %6 : f32
}

// CHECK-LABEL: func.func @celu_sum(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.celu %[[X]] alpha 2.000000e+00 : f32
// CHECK-NEXT:    return %[[Y]]
func.func @celu_sum(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.maximumf %x, %zero : f32
  %1 = arith.minimumf %x, %zero : f32
  %2 = arith.divf %1, %two : f32
  %3 = math.expm1 %2 : f32
  %4 = arith.mulf %3, %two : f32
  %5 = arith.addf %0, %4 : f32
  return %5 : f32
}

// Another scale than the divisor.

// CHECK-LABEL: func.func @kept_celu_of_two_scales(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_celu_of_two_scales(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = arith.divf %x, %two : f32
  %1 = math.expm1 %0 : f32
  %2 = arith.mulf %1, %three : f32
  %3 = arith.cmpf ole, %x, %zero : f32
  %4 = arith.select %3, %2, %x : f32
  return %4 : f32
}

// fad.celu has no alpha of zero.

// CHECK-LABEL: func.func @kept_celu_of_zero(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_celu_of_zero(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.divf %x, %zero : f32
  %1 = math.expm1 %0 : f32
  %2 = arith.mulf %1, %zero : f32
  %3 = arith.cmpf ole, %x, %zero : f32
  %4 = arith.select %3, %2, %x : f32
  return %4 : f32
}

//===----------------------------------------------------------------------===//
// hardtanh
//===----------------------------------------------------------------------===//

// VALUE: hardtanh(x) = min(max(x, -1), 1)
// AT: -1 -> 0
// AT: 1 -> 0

// CHECK-LABEL: func.func @hardtanh_where(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardtanh %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardtanh_where(%x: f32) -> f32 {
  %low = arith.constant -1.0 : f32
  %high = arith.constant 1.0 : f32
  %0 = arith.cmpf oge, %x, %high : f32
  %1 = arith.select %0, %high, %x : f32
  %2 = arith.cmpf ole, %x, %low : f32
  %3 = arith.select %2, %low, %1 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @hardtanh_low_first(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardtanh %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardtanh_low_first(%x: f32) -> f32 {
  %low = arith.constant -1.0 : f32
  %high = arith.constant 1.0 : f32
  %0 = arith.cmpf ugt, %x, %low : f32
  %1 = arith.select %0, %x, %low : f32
  %2 = arith.cmpf ult, %x, %high : f32
  %3 = arith.select %2, %1, %high : f32
  return %3 : f32
}

// The derivative at -1 is 1.

// CHECK-LABEL: func.func @kept_hardtanh_less(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_hardtanh_less(%x: f32) -> f32 {
  %low = arith.constant -1.0 : f32
  %high = arith.constant 1.0 : f32
  %0 = arith.cmpf oge, %x, %high : f32
  %1 = arith.select %0, %high, %x : f32
  %2 = arith.cmpf olt, %x, %low : f32
  %3 = arith.select %2, %low, %1 : f32
  return %3 : f32
}

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

// Drops NaN, which fad.relu keeps.

// CHECK-LABEL: func.func @kept_select_drops_nan(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_select_drops_nan(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @kept_maxnumf(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_maxnumf(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maxnumf %x, %zero : f32
  return %0 : f32
}

// The derivative at 0 is 1.

// CHECK-LABEL: func.func @kept_select_greater_or_equal(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_select_greater_or_equal(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf uge, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @kept_leaky_greater_or_equal(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_leaky_greater_or_equal(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0_25 = arith.constant 0.25 : f32
  %0 = arith.cmpf oge, %x, %zero : f32
  %1 = arith.mulf %c0_25, %x : f32
  %2 = arith.select %0, %x, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @kept_halfelu_greater_or_equal(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_halfelu_greater_or_equal(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.cmpf oge, %x, %zero : f32
  %1 = math.expm1 %x : f32
  %2 = arith.mulf %half, %1 : f32
  %3 = arith.select %0, %x, %2 : f32
  return %3 : f32
}

// The other branch.

// CHECK-LABEL: func.func @kept_select_less(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_select_less(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ult, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @kept_maximum_one(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_maximum_one(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.maximumf %x, %one : f32
  return %0 : f32
}

// Equal numbers share the derivative, which is 0.5 at 0, and 0.625.

// CHECK-LABEL: func.func @kept_relu_shares_ties(
// CHECK-NOT:     fad.relu
// CHECK:         return
func.func @kept_relu_shares_ties(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maximumf %x, %zero {fad.shares_ties} : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @kept_leaky_shares_ties(
// CHECK-NOT:     fad.leaky_relu
// CHECK:         return
func.func @kept_leaky_shares_ties(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0_25 = arith.constant 0.25 : f32
  %0 = arith.minimumf %x, %zero {fad.shares_ties} : f32
  %1 = arith.mulf %0, %c0_25 : f32
  %2 = arith.maximumf %x, %zero {fad.shares_ties} : f32
  %3 = arith.addf %1, %2 : f32
  return %3 : f32
}
