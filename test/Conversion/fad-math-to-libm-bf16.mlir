// RUN: fad-opt %s -fad-math-to-libm | FileCheck %s

// Nothing else in the file is of the math dialect, which the rounding needs.
// CHECK-LABEL: func.func @round(
// CHECK-SAME:    %[[X:[^:]*]]: f64
// CHECK-NOT:     arith.truncf %{{.*}} : f64 to bf16
// CHECK:         call @fabs(%[[X]])
// CHECK-NOT:     arith.truncf %{{.*}} : f64 to bf16
// CHECK:         return %{{.*}} : bf16
func.func @round(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}
