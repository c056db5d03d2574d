// RUN: fad-opt %s -fad-to-cuda=chip=sm_90 | FileCheck %s
// RUN: fad-opt %s -fad-to-cuda="chip=sm_90 results-to-arguments=true" | FileCheck %s --check-prefix=ARGUMENTS
// RUN: not fad-opt %s -fad-to-cuda=chip=sm_61 2>&1 | FileCheck %s --check-prefix=CHIP
// Executed in test/fad-runner/cuda.test.

// CHIP: error: unknown chip 'sm_61'; give one of: sm_70

// Both additions are one kernel, which the host launches; the product of matrices
// stays on the host.

// CHECK-LABEL: llvm.func @f(
// CHECK-NOT:     gpu.launch_func
// CHECK:         gpu.launch_func @kernels::@f_0 blocks in
// CHECK-SAME:      : i64 args(%{{.*}} : !llvm.ptr, %{{.*}} : !llvm.ptr, %{{.*}} : !llvm.ptr, %{{.*}} : i32)
// CHECK:         gpu.launch_func @kernels::@f_0_inplace blocks in
// CHECK:         gpu.launch_func @kernels::@f_0_unaligned blocks in
// CHECK-NOT:     gpu.launch_func
// CHECK:       gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90">,
// CHECK-SAME:    .visible .entry f_0(
// CHECK-SAME:    .visible .entry f_0_inplace(
// CHECK-SAME:    .visible .entry f_0_unaligned(
// The kernel writes to a buffer of the caller's.

// ARGUMENTS-LABEL: llvm.func @f(
// ARGUMENTS-SAME:    ) {
// ARGUMENTS:         gpu.launch_func @kernels::@f_0 blocks in
// ARGUMENTS:         llvm.return{{$}}
func.func @f(%x: tensor<?x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x8xf32>)
      outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<?x8xf32>, tensor<8xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%a: f32, %bias: f32, %out: f32):
    %s = arith.addf %a, %bias : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %y = fad.relu %sum : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
