// Registers are left to hold what functions of libdevice take: a multiprocessor
// has room for half as many threads then. Other kernels fill it.

// RUN: fad-opt %s -fad-to-gpu=chip=sm_90 | FileCheck %s

// CHECK:      gpu.func @f_0(
// CHECK-SAME:   nvvm.minctasm = 8 : i32
// CHECK:      gpu.func @f_1(
// CHECK-SAME:   nvvm.minctasm = 4 : i32
// CHECK:      gpu.func @f_2(
// CHECK-SAME:   nvvm.minctasm = 4 : i32
func.func @f(%x: tensor<?xf32>, %y: tensor<?xbf16>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xbf16>) {
  %0 = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    fad.yield %s : f32
  }
  %1 = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    %c = math.cos %s : f32
    %e = math.expm1 %c : f32
    fad.yield %e : f32
  }
  %2 = fad.elementwise ins(%y : tensor<?xbf16>) -> tensor<?xbf16> {
  ^bb0(%a: bf16):
    %s = math.sin %a : bf16
    fad.yield %s : bf16
  }
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xbf16>
}
