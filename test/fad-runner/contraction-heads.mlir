// Attention reads heads where they lie: no transposed copy of a factor, and no zeros
// that products are added to.
// RUN: fad-opt %s --fad-to-cpu=contractions=auto --mlir-print-ir-before=fad-contractions-to-calls -o %t.mlir 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: fad-opt %s --fad-to-cpu=contractions=auto --mlir-print-ir-after=fad-contractions-to-calls -o %t.mlir 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: fad-runner %s --contractions=library > %t.library
// RUN: fad-runner %s --contractions=loops > %t.loops
// RUN: diff %t.library %t.loops

// COPIES: func.func @heads(
// COPIES-COUNT-1: memref.alloc()
// COPIES-NOT: memref.alloc()
// CALL: func.func @heads(
// CALL-NOT: linalg.fill
// CALL: call @fad_contract_f32(
func.func @heads(%q: tensor<2x128x4x64xf32>, %k: tensor<8x64x128xf32>) -> tensor<8x128x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x128x64xf32>
  %t = linalg.transpose ins(%q : tensor<2x128x4x64xf32>) outs(%e : tensor<2x4x128x64xf32>) permutation = [0, 2, 1, 3]
  %j = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x4x128x64xf32> into tensor<8x128x64xf32>
  %f = tensor.empty() : tensor<8x128x128xf32>
  %c = linalg.fill ins(%z : f32) outs(%f : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %0 = linalg.batch_matmul ins(%j, %k : tensor<8x128x64xf32>, tensor<8x64x128xf32>) outs(%c : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  return %0 : tensor<8x128x128xf32>
}
