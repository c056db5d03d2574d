// With `named`, convolutions of the given types and sizes become matmuls, and so do their
// gradients.

// RUN: fad-opt %s -fad-im2col=named | FileCheck %s
// RUN: fad-opt %s -fad-im2col="named min-products=5760 types=f32" | FileCheck %s
// RUN: fad-opt %s -fad-im2col | FileCheck %s --check-prefix=KEPT
// RUN: fad-opt %s -fad-im2col="named types=f64" | FileCheck %s --check-prefix=KEPT
// RUN: fad-opt %s -fad-im2col="named min-products=5761" | FileCheck %s --check-prefix=KEPT
// RUN: not fad-opt %s -fad-im2col=min-products=few 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: fad-opt %s -fad-im2col=named -o %t.mlir
// RUN: %python %S/Inputs/compare_functions.py %fad_tools_dir/fad-runner %s %t.mlir %t named

// INVALID: <unknown>:0: error: min-products: 'few' is no integer

// Both gradients, of a strided one with a padding, by a library if there is one.
// RUN: fad-opt %s -fad-nest="entry=padded policy=bp" -fad-to-linalg -canonicalize -cse \
// RUN:   -fad-im2col=named | FileCheck %s --check-prefix=NEST
// RUN: fad-opt %s -fad-nest="entry=element policy=bp" -fad-to-linalg -canonicalize -cse \
// RUN:   -fad-im2col="named min-products=9223372036854775807 types=f32" | FileCheck %s --check-prefix=ELEMENT
// RUN: fad-runner %s --entry=element --policy=bp --check-gradients
// RUN: fad-runner %s --entry=padded --policy=bp --check-gradients

// 2 * 5 * 4 * 6 * 4 * 3 * 2 products.
// CHECK-LABEL: func.func @named(
// CHECK-NOT:     linalg.conv_2d
// CHECK:         linalg.matmul
// CHECK-NOT:     linalg.conv_2d
// CHECK-LABEL: func.func @last(
// KEPT-LABEL: func.func @named(
// KEPT:         linalg.conv_2d_nchw_fchw
func.func @named(%x: tensor<2x4x6x7xf32>, %w: tensor<5x4x3x2xf32>) -> tensor<2x5x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x4x6x7xf32>, tensor<5x4x3x2xf32>)
      outs(%z : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return %r : tensor<2x5x4x6xf32>
}

// Sizes that are not known may be large.
// CHECK:         linalg.matmul
func.func @last(%x: tensor<?x?x?x4xf32>, %w: tensor<3x2x4x5xf32>, %e: tensor<?x?x?x5xf32>) -> tensor<?x?x?x5xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x5xf32>) -> tensor<?x?x?x5xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x?x?x4xf32>, tensor<3x2x4x5xf32>)
      outs(%z : tensor<?x?x?x5xf32>) -> tensor<?x?x?x5xf32>
  return %r : tensor<?x?x?x5xf32>
}

// Each channel alone, and what is added to a tensor: nothing changes.
// CHECK-LABEL: func.func @kept(
// CHECK:         linalg.depthwise_conv_2d_nchw_chw
// CHECK:         linalg.conv_2d_nchw_fchw
func.func @kept(%x: tensor<2x4x6x7xf32>, %d: tensor<4x3x2xf32>, %w: tensor<5x4x3x2xf32>, %y: tensor<2x5x4x6xf32>)
    -> (tensor<2x4x4x6xf32>, tensor<2x5x4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%x, %d : tensor<2x4x6x7xf32>, tensor<4x3x2xf32>)
      outs(%z : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
  %s = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x4x6x7xf32>, tensor<5x4x3x2xf32>)
      outs(%y : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return %r, %s : tensor<2x4x4x6xf32>, tensor<2x5x4x6xf32>
}

// NEST-LABEL: func.func @padded_forward(
// NEST:         linalg.matmul
// NEST-LABEL: func.func @padded_backward(
// NEST-COUNT-2: linalg.matmul
// NEST-NOT:     linalg.conv_2d
func.func @padded(%x: tensor<2x8x12x12xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<2x8x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<2x8x12x12xf32> to tensor<2x8x14x14xf32>
  %e = tensor.empty() : tensor<2x8x6x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
      ins(%p, %w : tensor<2x8x14x14xf32>, tensor<8x8x3x3xf32>) outs(%z : tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  return %r : tensor<2x8x6x6xf32>
}

// A filter of one element, and both gradients, are contractions without copies, whatever
// their sizes and types.
// ELEMENT-LABEL: func.func @element_forward(
// ELEMENT-NOT:     linalg.conv_2d
// ELEMENT:         linalg.generic
// ELEMENT-LABEL: func.func @element_backward(
// ELEMENT-NOT:   linalg.conv_2d
func.func @element(%x: tensor<2x32x16x16xf64>, %w: tensor<8x32x1x1xf64>) -> tensor<2x8x16x16xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x8x16x16xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<2x8x16x16xf64>) -> tensor<2x8x16x16xf64>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x16x16xf64>, tensor<8x32x1x1xf64>)
      outs(%f : tensor<2x8x16x16xf64>) -> tensor<2x8x16x16xf64>
  return %y : tensor<2x8x16x16xf64>
}
