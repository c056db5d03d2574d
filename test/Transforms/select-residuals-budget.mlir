// RUN: fad-opt %s --fad-nest="policy=auto" | FileCheck %s --check-prefix=LEAST
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=256" | FileCheck %s --check-prefix=LEAST
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=383" | FileCheck %s --check-prefix=LEAST
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=384" | FileCheck %s --check-prefix=ONE
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=511" | FileCheck %s --check-prefix=ONE
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=512" | FileCheck %s --check-prefix=BOTH
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=1000000" | FileCheck %s --check-prefix=BOTH
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=0.5KiB target=cpu" | FileCheck %s --check-prefix=BOTH
// RUN: fad-opt %s --fad-nest="policy=auto residual-budget=0.5kib target=gpu" | FileCheck %s --check-prefix=LEAST
// RUN: not fad-opt %s --fad-nest="policy=auto residual-budget=255" 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not fad-opt %s --fad-nest="policy=auto residual-budget=511 recompute=nothing" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not fad-opt %s --fad-nest="policy=fad residual-budget=512" 2>&1 | FileCheck %s --check-prefix=FAD
// RUN: not fad-opt %s --fad-nest="target=tpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fad-opt %s --fad-nest="residual-budget=-2" 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: fad-runner %s --policy=auto --check-gradients

// Each of two equal branches keeps its source, 128 bytes, and computes the value and
// the derivative of its activation again, or keeps these, 256 bytes. The budget
// decides for how many. On a GPU, for which a transcendental function takes little time
// beside a tensor in memory, neither keeps them.

// LEAST:         func.func @branches_backward(
// LEAST-COUNT-2:   math.erfc
// LEAST-NOT:       math.erfc
// ONE:           func.func @branches_backward(
// ONE:             math.erfc
// ONE-NOT:         math.erfc
// BOTH:          func.func @branches_backward(
// BOTH-NOT:        math.erfc

// TARGET: 'tpu' is none of its values: cpu, gpu
// BYTES: residual-budget: the value is '-2', which is no number of bytes; the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB
// SMALL: budget.mlir:[[#@LINE+3]]:1: error: no choice of residuals takes 255 bytes or fewer: the least is 256 bytes with recompute=elementwise; raise the budget, or let backward compute more again
// NOTHING: budget.mlir:[[#@LINE+2]]:1: error: no choice of residuals takes 511 bytes or fewer: the least is 512 bytes with recompute=nothing; raise the budget, or let backward compute more again
// FAD: budget.mlir:[[#@LINE+1]]:1: error: a residual-budget is for the policy auto, but the policy is fad
func.func @branches(%x: tensor<4x8xf32>, %u: tensor<4x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %m0 = linalg.matmul ins(%x, %v : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y0 = fad.gelu %m0 : tensor<4x8xf32>
  %z0 = linalg.matmul ins(%y0, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m1 = linalg.matmul ins(%u, %v : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y1 = fad.gelu %m1 : tensor<4x8xf32>
  %z1 = linalg.matmul ins(%y1, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z0, %z1 : tensor<4x8xf32>, tensor<4x8xf32>
}
