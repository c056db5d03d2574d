// RUN: fad-memory-report %s --entry=softmax --policy=bp --policy=auto | FileCheck %s --check-prefix=SOFTMAX
// RUN: fad-memory-report %s --entry=pooling --policy=bp --policy=auto | FileCheck %s --check-prefix=POOLING
// RUN: fad-runner %s --entry=softmax --policy=auto --check-gradients
// RUN: fad-runner %s --entry=pooling --policy=auto --check-gradients
// RUN: fad-opt %s --fad-normalize --fad-select-least="entry=pooling" | FileCheck %s --check-prefix=PASS
// RUN: fad-opt %s --fad-nest="entry=softmax residual-budget=800" | FileCheck %s --check-prefix=NEST
// RUN: not fad-opt %s --fad-nest="entry=softmax residual-budget=100" 2>&1 | FileCheck %s --check-prefix=BUDGET

// Another policy never keeps less than auto, whichever joint function it has: what
// the tape keeps of a softmax is less than what the cut found once.

// SOFTMAX:     bp {{ *}}768 B
// SOFTMAX:     auto {{ *}}768 B
// BUDGET:      nest-least.mlir:[[@LINE+5]]:1: error: no choice of residuals takes 100 bytes or fewer: the least is 768 bytes with recompute=elementwise; raise the budget, or let backward compute more again
// NEST-LABEL:  func.func @softmax_forward(
// NEST-LABEL:  func.func @softmax_backward(
// NEST-LABEL:  func.func @pooling(
// NEST-NOT:    module
func.func @softmax(%a: tensor<64x64xf32>, %b: tensor<64x2xf32>) -> tensor<64x2xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x2xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<64x2xf32>) -> tensor<64x2xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x2xf32>) outs(%z : tensor<64x2xf32>) -> tensor<64x2xf32>
  %s = linalg.softmax dimension(1) ins(%p : tensor<64x2xf32>) outs(%e : tensor<64x2xf32>) -> tensor<64x2xf32>
  return %s : tensor<64x2xf32>
}

// POOLING:     bp {{ *}}420 B
// POOLING:     auto {{ *}}375 B
// PASS-LABEL:  func.func @pooling_joint(
// PASS:        fad.residual %{{.*}} : tensor<3x2x5xf32>
// PASS-NEXT:   fad.residual %{{.*}} : tensor<3x2x2x5xf32>
// PASS-NEXT:   fad.residual %{{.*}} 2 bits an element" : tensor<15xi8>
func.func @pooling(%x: tensor<3x4x4x5xf32>) -> tensor<3x2x2x5xf32> {
  %c = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3x2x2x5xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %p = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<3x4x4x5xf32>, tensor<2x2xf32>) outs(%z : tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
  %s = linalg.softmax dimension(2) ins(%p : tensor<3x2x2x5xf32>) outs(%e : tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
  return %s : tensor<3x2x2x5xf32>
}
