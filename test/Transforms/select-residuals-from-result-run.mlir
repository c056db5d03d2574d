// RUN: fad-memory-report %s --policy=auto --recompute=nothing | FileCheck %s
// RUN: fad-runner %s --policy=auto --recompute=nothing --check-gradients
// RUN: fad-runner %s --policy=auto --recompute=elementwise --check-gradients

// Derivatives that can be computed from the result of a region: it is kept for
// the product that reads it, and nothing else is. Each matrix has 512 bytes; the
// ten results are kept, and the exponential of the weights.

// CHECK: auto {{ *}}5632  total
func.func @layers(%x: tensor<8x8xf64>, %w: tensor<8x8xf64>, %v: tensor<8x8xf64>) -> tensor<8x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf64>
  %one = arith.constant dense<1.0> : tensor<8x8xf64>
  %c = arith.constant dense<0.25> : tensor<8x8xf64>
  // Weights above zero keep what follows the exponential above zero.
  %p = math.exp %v : tensor<8x8xf64>
  %m0 = linalg.matmul ins(%x, %w : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s0 = arith.mulf %m0, %c : tensor<8x8xf64>
  %relu = fad.relu %s0 : tensor<8x8xf64>
  %m1 = linalg.matmul ins(%relu, %w : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s1 = arith.mulf %m1, %c : tensor<8x8xf64>
  %leaky = fad.leaky_relu %s1 slope 0.25 : tensor<8x8xf64>
  %m2 = linalg.matmul ins(%leaky, %w : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s2 = arith.mulf %m2, %c : tensor<8x8xf64>
  %elu = fad.elu %s2 alpha 0.5 : tensor<8x8xf64>
  %m3 = linalg.matmul ins(%elu, %w : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s3 = arith.mulf %m3, %c : tensor<8x8xf64>
  %tanh = math.tanh %s3 : tensor<8x8xf64>
  %m4 = linalg.matmul ins(%tanh, %w : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s4 = arith.mulf %m4, %c : tensor<8x8xf64>
  %sigmoid = fad.sigmoid %s4 : tensor<8x8xf64>
  %m5 = linalg.matmul ins(%sigmoid, %w : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s5 = arith.mulf %m5, %c : tensor<8x8xf64>
  %softplus = fad.softplus %s5 : tensor<8x8xf64>
  %m6 = linalg.matmul ins(%softplus, %p : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s6 = arith.mulf %m6, %c : tensor<8x8xf64>
  %exp = math.exp %s6 : tensor<8x8xf64>
  %m7 = linalg.matmul ins(%exp, %p : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s7 = arith.mulf %m7, %c : tensor<8x8xf64>
  %sqrt = math.sqrt %s7 : tensor<8x8xf64>
  %m8 = linalg.matmul ins(%sqrt, %p : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s8 = arith.mulf %m8, %c : tensor<8x8xf64>
  %rsqrt = math.rsqrt %s8 : tensor<8x8xf64>
  %m9 = linalg.matmul ins(%rsqrt, %p : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s9 = arith.mulf %m9, %c : tensor<8x8xf64>
  %reciprocal = arith.divf %one, %s9 : tensor<8x8xf64>
  %z = linalg.matmul ins(%reciprocal, %p : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  return %z : tensor<8x8xf64>
}
