// A chain of residual connections. The first adjoint that reads its end has all of
// it computed again, and each part is read once more, much later: it is computed
// a second time for that, not to be there at the peak of backward.

// RUN: fad-opt %s --fad-nest="policy=auto" | FileCheck %s
// CHECK-LABEL: func.func @chain_backward(
// CHECK-SAME:    %{{[^ ]*}}: tensor<64x32xf32> {fad.residual}
// CHECK:         fad.gelu
// CHECK:         linalg.matmul
// CHECK:         fad.elementwise {{.*}}{rematerialized}
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      fad.gelu

// Nothing merges it with the first on the way to buffers: what is measured is what
// is estimated.
// RUN: fad-runner %s --policy=auto --stats | FileCheck %s --check-prefix=STATS
// STATS: backward peak {{ *}}[[PEAK:[0-9]+]] {{ *}}[[PEAK]]

// RUN: fad-runner %s --policy=auto --check-gradients | FileCheck %s --check-prefix=GRADIENTS
// GRADIENTS-COUNT-7: ok

func.func @chain(%x: tensor<64x32xf32>, %w0: tensor<32x32xf32>, %w1: tensor<32x32xf32>, %w2: tensor<32x32xf32>, %w3: tensor<32x32xf32>, %w4: tensor<32x32xf32>, %w5: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %m0 = linalg.matmul ins(%x, %w0 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g0 = fad.gelu %m0 : tensor<64x32xf32>
  %x0 = arith.addf %g0, %x : tensor<64x32xf32>
  %m1 = linalg.matmul ins(%x0, %w1 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g1 = fad.gelu %m1 : tensor<64x32xf32>
  %x1 = arith.addf %g1, %x0 : tensor<64x32xf32>
  %m2 = linalg.matmul ins(%x1, %w2 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g2 = fad.gelu %m2 : tensor<64x32xf32>
  %x2 = arith.addf %g2, %x1 : tensor<64x32xf32>
  %m3 = linalg.matmul ins(%x2, %w3 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g3 = fad.gelu %m3 : tensor<64x32xf32>
  %x3 = arith.addf %g3, %x2 : tensor<64x32xf32>
  %m4 = linalg.matmul ins(%x3, %w4 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g4 = fad.gelu %m4 : tensor<64x32xf32>
  %x4 = arith.addf %g4, %x3 : tensor<64x32xf32>
  %m5 = linalg.matmul ins(%x4, %w5 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %g5 = fad.gelu %m5 : tensor<64x32xf32>
  %x5 = arith.addf %g5, %x4 : tensor<64x32xf32>
  return %x5 : tensor<64x32xf32>
}
