// A convolution by a filter of one element, and both gradients, are products of matrices
// of whatever library there is.

// RUN: fad-opt %s -fad-nest=policy=bp -fad-to-linalg -canonicalize -cse \
// RUN:   -fad-select-convolutions=types=f64 -fad-select-contractions=types=f64 | FileCheck %s
// RUN: fad-opt %s -fad-nest=policy=bp -fad-to-linalg -canonicalize -cse \
// RUN:   -fad-select-convolutions=contractions=loops -fad-interchange-contractions \
// RUN:   | FileCheck %s --check-prefix=LOOPS

// CHECK-NOT: linalg.conv_2d
// CHECK-LABEL: func.func @element_forward(
// CHECK: {fad.library}
// CHECK-LABEL: func.func @element_backward(
// CHECK-COUNT-2: {fad.library}
// CHECK-NOT: linalg.conv_2d

// LOOPS-NOT: linalg.conv_2d
// LOOPS-NOT: d{{[0-9]}} + d{{[0-9]}}
// LOOPS-LABEL: func.func @element_forward(
// LOOPS-LABEL: func.func @element_backward(
// LOOPS-NOT: linalg.conv_2d
func.func @element(%x: tensor<2x32x16x16xf64>, %w: tensor<8x32x1x1xf64>) -> tensor<2x8x16x16xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x8x16x16xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<2x8x16x16xf64>) -> tensor<2x8x16x16xf64>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x16x16xf64>, tensor<8x32x1x1xf64>)
      outs(%f : tensor<2x8x16x16xf64>) -> tensor<2x8x16x16xf64>
  return %y : tensor<2x8x16x16xf64>
}
