// RUN: fad-opt %s | fad-opt | FileCheck %s
// RUN: fad-opt %s -mlir-print-op-generic | fad-opt | FileCheck %s

// CHECK: func.func @request(
// CHECK-SAME: attributes {fad.request = #fad.request<wrt = [0, 1]>}
func.func @request(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32>
    attributes {fad.request = #fad.request<wrt = [0, 1]>} {
  return %x : tensor<4xf32>
}
