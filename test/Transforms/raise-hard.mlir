// RUN: fad-opt %s --fad-raise | FileCheck %s
// RUN: %python %S/check_raise.py fad-opt mlir-runner %mlir_lib_dir/libmlir_c_runner_utils.so %s

//===----------------------------------------------------------------------===//
// hardsigmoid
//===----------------------------------------------------------------------===//

// VALUE: hardsigmoid(x) = min(max(x + 3, 0), 6) / 6
// AT: -3 -> 0
// AT: 3 -> 0

// CHECK-LABEL: func.func @hardsigmoid_max_min(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardsigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardsigmoid_max_min(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.maximumf %0, %zero : f32
  %2 = arith.minimumf %1, %six : f32
  %3 = arith.divf %2, %six : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @hardsigmoid_min_max(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardsigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardsigmoid_min_max(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %zero = arith.constant 0.0 : f32
  %sixth = arith.constant 0.16666666666666666 : f32
  %0 = arith.addf %three, %x : f32
  %1 = arith.minimumf %0, %six : f32
  %2 = arith.maximumf %1, %zero : f32
  %3 = arith.mulf %2, %sixth : f32
  return %3 : f32
}

// CHECK-LABEL: func.func @hardsigmoid_selects(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardsigmoid %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardsigmoid_selects(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.cmpf olt, %0, %zero : f32
  %2 = arith.select %1, %zero, %0 : f32
  %3 = arith.cmpf ult, %2, %six : f32
  %4 = arith.select %3, %2, %six : f32
  %5 = arith.divf %4, %six : f32
  return %5 : f32
}

//===----------------------------------------------------------------------===//
// hardswish
//===----------------------------------------------------------------------===//

// VALUE: hardswish(x) = x * min(max(x + 3, 0), 6) / 6
// AT: -3 -> 0
// AT: 3 -> 1

// CHECK-LABEL: func.func @hardswish_max_min(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardswish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardswish_max_min(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.maximumf %0, %zero : f32
  %2 = arith.minimumf %1, %six : f32
  %3 = arith.mulf %x, %2 : f32
  %4 = arith.divf %3, %six : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @hardswish_times_hardsigmoid(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardswish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardswish_times_hardsigmoid(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.maximumf %0, %zero : f32
  %2 = arith.minimumf %1, %six : f32
  %3 = arith.divf %2, %six : f32
  %4 = arith.mulf %x, %3 : f32
  return %4 : f32
}

// CHECK-LABEL: func.func @hardswish_sixth_first(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardswish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardswish_sixth_first(%x: f32) -> f32 {
  %sixth = arith.constant 0.16666666666666666 : f32
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %zero = arith.constant 0.0 : f32
  %0 = arith.mulf %x, %sixth : f32
  %1 = arith.addf %x, %three : f32
  %2 = arith.minimumf %1, %six : f32
  %3 = arith.maximumf %2, %zero : f32
  %4 = arith.mulf %0, %3 : f32
  return %4 : f32
}

// NaN goes to 0 in the first select, and comes back with the factor x.

// CHECK-LABEL: func.func @hardswish_selects(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardswish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardswish_selects(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.cmpf ult, %0, %zero : f32
  %2 = arith.select %1, %zero, %0 : f32
  %3 = arith.cmpf ugt, %2, %six : f32
  %4 = arith.select %3, %six, %2 : f32
  %5 = arith.mulf %x, %4 : f32
  %6 = arith.divf %5, %six : f32
  return %6 : f32
}

// CHECK-LABEL: func.func @hardswish_branches(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK-NEXT:    %[[Y:.*]] = fad.hardswish %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]
func.func @hardswish_branches(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %minus_three = arith.constant -3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.mulf %x, %0 : f32
  %2 = arith.divf %1, %six : f32
  %3 = arith.cmpf olt, %x, %three : f32
  %4 = arith.select %3, %2, %x : f32
  %5 = arith.cmpf ole, %x, %minus_three : f32
  %6 = arith.mulf %x, %zero : f32
  %7 = arith.select %5, %6, %4 : f32
  return %7 : f32
}

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @kept_clamp_seven(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_clamp_seven(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %c7 = arith.constant 7.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.maxnumf %0, %zero : f32
  %2 = arith.minimumf %1, %c7 : f32
  %3 = arith.divf %2, %six : f32
  return %3 : f32
}

// NaN becomes 0.

// CHECK-LABEL: func.func @kept_hardsigmoid_drops_nan(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_hardsigmoid_drops_nan(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.cmpf ult, %0, %zero : f32
  %2 = arith.select %1, %zero, %0 : f32
  %3 = arith.cmpf ugt, %2, %six : f32
  %4 = arith.select %3, %six, %2 : f32
  %5 = arith.divf %4, %six : f32
  return %5 : f32
}

// The derivative at -3 is -1/2.

// CHECK-LABEL: func.func @kept_branch_at_minus_three(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_branch_at_minus_three(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %minus_three = arith.constant -3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.mulf %x, %0 : f32
  %2 = arith.divf %1, %six : f32
  %3 = arith.cmpf olt, %x, %three : f32
  %4 = arith.select %3, %2, %x : f32
  %5 = arith.cmpf olt, %x, %minus_three : f32
  %6 = arith.mulf %x, %zero : f32
  %7 = arith.select %5, %6, %4 : f32
  return %7 : f32
}

// Is 0 at NaN and at -inf.

// CHECK-LABEL: func.func @kept_branches_drop_nan(
// CHECK-NOT:     fad.
// CHECK:         return
func.func @kept_branches_drop_nan(%x: f32) -> f32 {
  %three = arith.constant 3.0 : f32
  %minus_three = arith.constant -3.0 : f32
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.addf %x, %three : f32
  %1 = arith.mulf %x, %0 : f32
  %2 = arith.divf %1, %six : f32
  %3 = arith.cmpf olt, %x, %three : f32
  %4 = arith.select %3, %2, %x : f32
  %5 = arith.cmpf ogt, %x, %minus_three : f32
  %6 = arith.select %5, %4, %zero : f32
  return %6 : f32
}
