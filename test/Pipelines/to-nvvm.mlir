// Kernels that call no library become PTX on a machine without CUDA.

// RUN: fad-opt %s -fad-to-nvvm=chip=sm_90 | fad-translate -gpu-binary-to-ptx | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: fad-opt %s -fad-to-nvvm=chip=sm_70 | fad-translate -gpu-binary-to-ptx | FileCheck %s --check-prefixes=CHECK,SM70
// RUN: fad-opt %s -fad-to-nvvm="chip=sm_80 features=+ptx75" | fad-translate -gpu-binary-to-ptx | FileCheck %s --check-prefix=SM80
// RUN: fad-opt %s -fad-to-nvvm=chip=sm_100 | fad-translate -gpu-binary-to-ptx | FileCheck %s --check-prefix=SM100
// RUN: fad-opt %s -fad-to-nvvm=chip=sm_90 | FileCheck %s --check-prefix=MODULE

// The host keeps its program and learns which kernel computes what.
// MODULE-LABEL: func.func @f(
// MODULE:         fad.elementwise
// MODULE-SAME:      fad.kernel = @kernels::@f_leaky_relu
// MODULE-LABEL: func.func @g(
// MODULE:         fad.elementwise
// MODULE-SAME:      fad.kernel = @kernels::@g_0
// MODULE:       gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90">

// The oldest PTX version that knows the chip.
// SM70:  .version 6.0
// SM70:  .target sm_70
// SM80:  .version 7.5
// SM80:  .target sm_80
// SM90:  .version 7.8
// SM90:  .target sm_90
// SM100: .version 8.6
// SM100: .target sm_100

// CHECK-NOT:   .extern
// CHECK:       .visible .entry f_leaky_relu(
// CHECK-NEXT:    .param .u64 .ptr .align 16 f_leaky_relu_param_0,
// CHECK-NEXT:    .param .u64 .ptr .align 16 f_leaky_relu_param_1,
// CHECK-NEXT:    .param .u32 f_leaky_relu_param_2
// CHECK:         .maxntid 256, 1, 1
// CHECK-NEXT:    .minnctapersm 8
// Offsets take 32 bits, and one instruction adds one to a pointer.
// CHECK-DAG:     mov.u32 %[[BLOCK:r[0-9]+]], %ctaid.x;
// CHECK-DAG:     mov.u32 %[[THREAD:r[0-9]+]], %tid.x;
// CHECK:         shl.b32 %[[BASE:r[0-9]+]], %[[BLOCK]], 11;
// CHECK:         shl.b32 %[[MINE:r[0-9]+]], %[[THREAD]], 2;
// CHECK:         or.b32 %[[FIRST:r[0-9]+]], %[[BASE]], %[[MINE]];
// CHECK:         mul.wide.u32 %[[OFFSET:rd[0-9]+]], %[[FIRST]], 4;
// Both loads first; 16 bytes a thread, neighbors beside each other.
// CHECK:         add.s64 %[[IN:rd[0-9]+]], %rd{{[0-9]+}}, %[[OFFSET]];
// CHECK-DAG:     ld.global.nc.v4.b32 {{.*}}, [%[[IN]]];
// CHECK-DAG:     ld.global.nc.v4.b32 {{.*}}, [%[[IN]]+4096];
// CHECK:         st.global.v4.b32 [%[[OUT:rd[0-9]+]]], {
// CHECK:         st.global.v4.b32 [%[[OUT]]+4096], {
// The last tile, element by element.
// CHECK:       $L__BB0_[[#LOOP:]]:
// CHECK:         ld.global.nc.b32
// CHECK:         st.global.b32
// CHECK:         add.s32 %{{.*}}, %{{.*}}, 256;
// CHECK:         ret;
// In place, loads may not go through the cache of what does not change.
// CHECK:       .visible .entry f_leaky_relu_inplace(
// CHECK-NOT:     .nc
// CHECK:         ld.global.v4.b32
// CHECK:         st.global.v4.b32
// CHECK:       .visible .entry f_leaky_relu_unaligned(
// CHECK-NEXT:    .param .u64 .ptr .align 4 f_leaky_relu_unaligned_param_0,
// CHECK-NOT:     {{[.]nc|[.]v[24]}}
// CHECK:         ld.global.b32
// CHECK:         st.global.b32
// CHECK:         ret;
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = fad.elementwise ins(%x : tensor<?x8xf32>) -> tensor<?x8xf32> {
  ^bb0(%a: f32):
    %r = fad.leaky_relu %a : f32
    fad.yield %r : f32
  }
  return %0 : tensor<?x8xf32>
}

// CHECK:       .visible .entry g_0(
// CHECK-NEXT:    .param .u64 .ptr .align 16 g_0_param_0,
// CHECK-NEXT:    .param .u64 .ptr .align 16 g_0_param_1,
// CHECK-NEXT:    .param .align 2 .b8 g_0_param_2[2],
// CHECK-NEXT:    .param .u8 g_0_param_3,
// CHECK-NEXT:    .param .u64 .ptr .align 16 g_0_param_4,
// CHECK-NEXT:    .param .u32 g_0_param_5
// CHECK-DAG:     ld.global.nc.v4.b32
// CHECK-DAG:     ld.global.nc.v2.b32
// CHECK:         st.global.v4.b32
// CHECK:         ld.global.nc.b16
// CHECK:         st.global.b16
// CHECK-NOT:     .extern
func.func @g(%x: tensor<?xbf16>, %m: tensor<?xi1>, %s: bf16, %c: i1) -> tensor<?xbf16> {
  %0 = fad.elementwise ins(%x, %m, %s, %c : tensor<?xbf16>, tensor<?xi1>, bf16, i1) -> tensor<?xbf16> {
  ^bb0(%a: bf16, %b: i1, %d: bf16, %e: i1):
    %both = arith.andi %b, %e : i1
    %r = arith.select %both, %a, %d : bf16
    fad.yield %r : bf16
  }
  return %0 : tensor<?xbf16>
}
