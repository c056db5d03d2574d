// RUN: fad-opt %s --fad-raise | FileCheck %s
// RUN: %python %S/check_raise.py fad-opt mlir-runner %mlir_lib_dir/libmlir_c_runner_utils.so %s

//===----------------------------------------------------------------------===//
// erf
//===----------------------------------------------------------------------===//

// VALUE: gelu(x) = x * ncdf(x)
//
// The argument of erfc is rounded, which counts x * x times.
//
// BOUND: 8 + 2 * x * x

// CHECK-LABEL: func.func @gelu_half_last(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_half_last(%x: f32) -> f32 {
  %sqrt2 = arith.constant 1.4142135623730951 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.divf %x, %sqrt2 : f32
  %1 = math.erf %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.mulf %2, %half : f32
  %4 = arith.mulf %x, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @gelu_half_first(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_half_first(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %half : f32
  %1 = arith.mulf %x, %sqrt1_2 : f32
  %2 = math.erf %1 : f32
  %3 = arith.addf %one, %2 : f32
  %4 = arith.mulf %0, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @gelu_half_outside(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_half_outside(%x: f32) -> f32 {
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %sqrt1_2, %x : f32
  %1 = math.erf %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.mulf %x, %2 : f32
  %4 = arith.mulf %half, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @gelu_halved(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_halved(%x: f32) -> f32 {
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.mulf %x, %sqrt1_2 : f32
  %1 = math.erf %0 : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.mulf %x, %2 : f32
  %4 = arith.divf %3, %two : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @gelu_quarter_twice(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_quarter_twice(%x: f32) -> f32 {
  %c0_25 = arith.constant 0.25 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = arith.mulf %x, %c0_25 : f32
  %1 = arith.mulf %x, %sqrt1_2 : f32
  %2 = math.erf %1 : f32
  %3 = arith.addf %one, %2 : f32
  %4 = arith.mulf %3, %two : f32
  %5 = arith.mulf %0, %4 : f32
  return %5 : f32
}

// CHECK-LABEL: func.func @gelu_erfc(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_erfc(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %0 = arith.mulf %half, %x : f32
  %1 = arith.negf %x : f32
  %2 = arith.mulf %1, %sqrt1_2 : f32
  %3 = math.erfc %2 : f32
  %4 = arith.mulf %0, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @gelu_erfc_negated_constant(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_erfc_negated_constant(%x: f32) -> f32 {
  %minus_sqrt1_2 = arith.constant -0.7071067811865476 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %x, %minus_sqrt1_2 : f32
  %1 = math.erfc %0 : f32
  %2 = arith.mulf %half, %1 : f32
  %3 = arith.mulf %x, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @gelu_erfc_negated_quotient(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @gelu_erfc_negated_quotient(%x: f32) -> f32 {
  %sqrt2 = arith.constant 1.4142135623730951 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.divf %x, %sqrt2 : f32
  %1 = arith.negf %0 : f32
  %2 = math.erfc %1 : f32
  %3 = arith.mulf %x, %2 : f32
  %4 = arith.mulf %half, %3 : f32
  return %4 : f32
}

//===----------------------------------------------------------------------===//
// tanh
//===----------------------------------------------------------------------===//

// VALUE: tanhgelu(x) = x * sigmoid(2 * sqrt(2 / pi) * (x + mpf(44715) / 1000000 * x**3))
//
// So is the argument of exp, with what it is made of.
//
// BOUND: 8 + 2 * (1.6 * abs(x) + 0.0714 * abs(x)**3)

// CHECK-LABEL: func.func @tanhgelu_fpowi(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_fpowi(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %i3 = arith.constant 3 : i64
  %cube = arith.constant 0.044715 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %half : f32
  %1 = math.fpowi %x, %i3 : f32, i64
  %2 = arith.mulf %cube, %1 : f32
  %3 = arith.addf %x, %2 : f32
  %4 = arith.mulf %scale, %3 : f32
  %5 = math.tanh %4 : f32
  %6 = arith.addf %one, %5 : f32
  %7 = arith.mulf %0, %6 : f32
  return %7 : f32
}

// CHECK-LABEL: func.func @tanhgelu_powf(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_powf(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %three = arith.constant 3.0 : f32
  %cube = arith.constant 0.044715 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %half, %x : f32
  %1 = math.powf %x, %three : f32
  %2 = arith.mulf %1, %cube : f32
  %3 = arith.addf %x, %2 : f32
  %4 = arith.mulf %3, %scale : f32
  %5 = math.tanh %4 : f32
  %6 = arith.addf %one, %5 : f32
  %7 = arith.mulf %0, %6 : f32
  return %7 : f32
}

// CHECK-LABEL: func.func @tanhgelu_products(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_products(%x: f32) -> f32 {
  %cube = arith.constant 0.044715 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %x, %x : f32
  %1 = arith.mulf %0, %x : f32
  %2 = arith.mulf %cube, %1 : f32
  %3 = arith.addf %2, %x : f32
  %4 = arith.mulf %scale, %3 : f32
  %5 = math.tanh %4 : f32
  %6 = arith.addf %5, %one : f32
  %7 = arith.mulf %6, %half : f32
  %8 = arith.mulf %x, %7 : f32
  return %8 : f32
}

// CHECK-LABEL: func.func @tanhgelu_products_spread(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_products_spread(%x: f32) -> f32 {
  %cube = arith.constant 0.044715 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %cube, %x : f32
  %1 = arith.mulf %x, %x : f32
  %2 = arith.mulf %0, %1 : f32
  %3 = arith.addf %x, %2 : f32
  %4 = arith.mulf %scale, %3 : f32
  %5 = math.tanh %4 : f32
  %6 = arith.addf %one, %5 : f32
  %7 = arith.mulf %x, %6 : f32
  %8 = arith.mulf %half, %7 : f32
  return %8 : f32
}

// CHECK-LABEL: func.func @tanhgelu_square(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_square(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %cube = arith.constant 0.044715 : f32
  %i2 = arith.constant 2 : i64
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %half, %x : f32
  %1 = arith.mulf %cube, %x : f32
  %2 = math.fpowi %x, %i2 : f32, i64
  %3 = arith.mulf %1, %2 : f32
  %4 = arith.addf %x, %3 : f32
  %5 = arith.mulf %scale, %4 : f32
  %6 = math.tanh %5 : f32
  %7 = arith.addf %one, %6 : f32
  %8 = arith.mulf %0, %7 : f32
  return %8 : f32
}

// CHECK-LABEL: func.func @tanhgelu_factored(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_factored(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %cube = arith.constant 0.044715 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %half, %x : f32
  %1 = arith.mulf %scale, %x : f32
  %2 = arith.mulf %cube, %x : f32
  %3 = arith.mulf %2, %x : f32
  %4 = arith.addf %one, %3 : f32
  %5 = arith.mulf %1, %4 : f32
  %6 = math.tanh %5 : f32
  %7 = arith.addf %one, %6 : f32
  %8 = arith.mulf %0, %7 : f32
  return %8 : f32
}

// CHECK-LABEL: func.func @tanhgelu_sigmoid(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_sigmoid(%x: f32) -> f32 {
  %i3 = arith.constant 3 : i64
  %cube = arith.constant 0.044715 : f32
  %scale2 = arith.constant 1.5957691216057308 : f32
  %one = arith.constant 1.0 : f32
  %0 = math.fpowi %x, %i3 : f32, i64
  %1 = arith.mulf %cube, %0 : f32
  %2 = arith.addf %x, %1 : f32
  %3 = arith.mulf %2, %scale2 : f32
  %4 = arith.negf %3 : f32
  %5 = math.exp %4 : f32
  %6 = arith.addf %one, %5 : f32
  %7 = arith.divf %one, %6 : f32
  %8 = arith.mulf %x, %7 : f32
  return %8 : f32
}

// CHECK-LABEL: func.func @tanhgelu_sigmoid_twice(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_sigmoid_twice(%x: f32) -> f32 {
  %i3 = arith.constant 3 : i64
  %cube = arith.constant 0.044715 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = math.fpowi %x, %i3 : f32, i64
  %1 = arith.mulf %cube, %0 : f32
  %2 = arith.addf %x, %1 : f32
  %3 = arith.mulf %2, %scale : f32
  %4 = arith.mulf %3, %two : f32
  %5 = arith.negf %4 : f32
  %6 = math.exp %5 : f32
  %7 = arith.addf %one, %6 : f32
  %8 = arith.divf %one, %7 : f32
  %9 = arith.mulf %x, %8 : f32
  return %9 : f32
}

// CHECK-LABEL: func.func @tanhgelu_sigmoid_negated_constant(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.gelu %[[X]] approximate <tanh> : f32
// CHECK-NEXT:    return %[[Y]]
func.func @tanhgelu_sigmoid_negated_constant(%x: f32) -> f32 {
  %cube = arith.constant 0.044715 : f32
  %one = arith.constant 1.0 : f32
  %cm1_5957691216057308 = arith.constant -1.5957691216057308 : f32
  %0 = arith.mulf %cube, %x : f32
  %1 = arith.mulf %0, %x : f32
  %2 = arith.addf %one, %1 : f32
  %3 = arith.mulf %x, %2 : f32
  %4 = arith.mulf %3, %cm1_5957691216057308 : f32
  %5 = math.exp %4 : f32
  %6 = arith.addf %one, %5 : f32
  %7 = arith.divf %x, %6 : f32
  return %7 : f32
}

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

// The constant of one exporter, wrong in the fourth digit.

// CHECK-LABEL: func.func @kept_other_scale(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_scale(%x: f32) -> f32 {
  %i3 = arith.constant 3 : i64
  %cube = arith.constant 0.044715 : f32
  %c0_797724 = arith.constant 0.797724 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = math.fpowi %x, %i3 : f32, i64
  %1 = arith.mulf %cube, %0 : f32
  %2 = arith.addf %x, %1 : f32
  %3 = arith.mulf %c0_797724, %2 : f32
  %4 = math.tanh %3 : f32
  %5 = arith.addf %4, %one : f32
  %6 = arith.mulf %5, %half : f32
  %7 = arith.mulf %x, %6 : f32
  return %7 : f32
}

// CHECK-LABEL: func.func @kept_other_cubic(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_cubic(%x: f32) -> f32 {
  %i3 = arith.constant 3 : i64
  %c0_0447 = arith.constant 0.0447 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = math.fpowi %x, %i3 : f32, i64
  %1 = arith.mulf %c0_0447, %0 : f32
  %2 = arith.addf %x, %1 : f32
  %3 = arith.mulf %scale, %2 : f32
  %4 = math.tanh %3 : f32
  %5 = arith.addf %4, %one : f32
  %6 = arith.mulf %5, %half : f32
  %7 = arith.mulf %x, %6 : f32
  return %7 : f32
}

// CHECK-LABEL: func.func @kept_other_power(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_power(%x: f32) -> f32 {
  %i2 = arith.constant 2 : i64
  %cube = arith.constant 0.044715 : f32
  %scale = arith.constant 0.7978845608028654 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %0 = math.fpowi %x, %i2 : f32, i64
  %1 = arith.mulf %cube, %0 : f32
  %2 = arith.addf %x, %1 : f32
  %3 = arith.mulf %scale, %2 : f32
  %4 = math.tanh %3 : f32
  %5 = arith.addf %4, %one : f32
  %6 = arith.mulf %5, %half : f32
  %7 = arith.mulf %x, %6 : f32
  return %7 : f32
}

// CHECK-LABEL: func.func @kept_other_half(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_half(%x: f32) -> f32 {
  %c0_4999999 = arith.constant 0.4999999 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %c0_4999999 : f32
  %1 = arith.mulf %x, %sqrt1_2 : f32
  %2 = math.erf %1 : f32
  %3 = arith.addf %one, %2 : f32
  %4 = arith.mulf %0, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @kept_two_ulps(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_two_ulps(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %c0_7071069 = arith.constant 0.7071069 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %half : f32
  %1 = arith.mulf %x, %c0_7071069 : f32
  %2 = math.erf %1 : f32
  %3 = arith.addf %one, %2 : f32
  %4 = arith.mulf %0, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @kept_minus_erf(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_minus_erf(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %half : f32
  %1 = arith.mulf %x, %sqrt1_2 : f32
  %2 = math.erf %1 : f32
  %3 = arith.subf %one, %2 : f32
  %4 = arith.mulf %0, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @kept_other_factor(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_other_factor(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.mulf %x, %x : f32
  %1 = arith.mulf %0, %half : f32
  %2 = arith.mulf %x, %sqrt1_2 : f32
  %3 = math.erf %2 : f32
  %4 = arith.addf %one, %3 : f32
  %5 = arith.mulf %1, %4 : f32
  return %5 : f32
}

// CHECK-LABEL: func.func @kept_erfc_of_x(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_erfc_of_x(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %sqrt1_2 = arith.constant 0.7071067811865476 : f32
  %0 = arith.mulf %half, %x : f32
  %1 = arith.mulf %x, %sqrt1_2 : f32
  %2 = math.erfc %1 : f32
  %3 = arith.mulf %0, %2 : f32
  return %3 : f32
}
