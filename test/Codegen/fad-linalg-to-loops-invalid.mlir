// RUN: fad-opt %s -split-input-file -fad-linalg-to-loops -verify-diagnostics

func.func @on_tensors(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.fill' op is on tensors; bufferize it first}}
  %0 = linalg.fill ins(%s : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @not_structured(%x: memref<2x3xf32>, %y: memref<2x3xf32>) {
  // expected-error @+1 {{'linalg.softmax' op has no lowering to loops; decompose it into structured operations first}}
  linalg.softmax dimension(1) ins(%x : memref<2x3xf32>) outs(%y : memref<2x3xf32>)
  return
}
