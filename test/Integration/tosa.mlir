// TOSA programs, through upstream's conversions to linalg.

// RUN: fad-opt %fad_src_root/examples/tosa/net.mlir -o %t.net \
// RUN:   --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'
// RUN: fad-runner %t.net --policy=bp --check-gradients | FileCheck %s
// RUN: fad-runner %t.net --policy=recompute --check-gradients | FileCheck %s
// RUN: fad-runner %t.net --policy=fad --check-gradients | FileCheck %s

// RUN: fad-opt %s -o %t.more \
// RUN:   --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'
// RUN: fad-runner %t.more --policy=bp --check-gradients | FileCheck %s
// RUN: fad-runner %t.more --policy=recompute --check-gradients | FileCheck %s
// RUN: fad-runner %t.more --policy=fad --check-gradients | FileCheck %s
// CHECK-NOT: FAIL
// CHECK:     0 {{.*}} ok
// CHECK:     1 {{.*}} ok
// CHECK:     2 {{.*}} ok
// CHECK:     3 {{.*}} ok

// In one go, and contractions keep their names.
// RUN: fad-opt %fad_src_root/examples/tosa/net.mlir \
// RUN:   --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor),fad-nest)' \
// RUN:   | FileCheck %s --check-prefix=NEST
// NEST-LABEL: func.func @net_forward(
// NEST-NOT:     tosa.
// NEST:         linalg.conv_2d_nhwc_fhwc
// NEST:         linalg.batch_matmul
// NEST-NOT:     tosa.
// NEST-LABEL: func.func @net_backward(
// NEST:         linalg.batch_matmul
// NEST-NOT:     tosa.

// Depthwise convolution, clamp, average pooling; gather, concat, slice, exp and
// maximum.
func.func @more(%image: tensor<1x8x8x2xf32>, %filter: tensor<3x3x2x1xf32>, %bias: tensor<2xf32>, %table: tensor<1x5x3xf32>, %ids: tensor<1x4xi32>) -> (tensor<1x4x4x2xf32>, tensor<1x4x1xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.depthwise_conv2d %image, %filter, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<3x3x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x2xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  %2 = tosa.avg_pool2d %1, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.gather %table, %ids : (tensor<1x5x3xf32>, tensor<1x4xi32>) -> tensor<1x4x3xf32>
  %4 = tosa.concat %3, %3 {axis = 2 : i32} : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x6xf32>
  %5 = tosa.slice %4, %start, %size : (tensor<1x4x6xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %6 = tosa.exp %5 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %7 = tosa.reduce_max %6 {axis = 2 : i32} : (tensor<1x4x4xf32>) -> tensor<1x4x1xf32>
  return %2, %7 : tensor<1x4x4x2xf32>, tensor<1x4x1xf32>
}
