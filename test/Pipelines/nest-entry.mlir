// A private function is differentiated like a public one, whoever calls it:
// calls are inlined, and what is left of the callers stays.

// RUN: fad-opt %s --fad-nest=entry=layer | FileCheck %s
// RUN: fad-opt %s --fad-nest=entry=unused | FileCheck %s --check-prefix=UNUSED
// RUN: fad-runner %s --entry=layer --check-gradients
// RUN: not fad-opt %s --fad-nest=entry=nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not fad-opt %s --fad-nest=entry=external 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: error: there is no function @{{nobody|external}} with a body; name one of @network, @layer, @unused

// CHECK-LABEL: func.func @network(
// CHECK-NOT:     call
// CHECK-LABEL: func.func @layer_forward(
// CHECK:         math.sin
// CHECK-LABEL: func.func @layer_backward(
func.func @network(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @layer(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @layer(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.sin %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// UNUSED-LABEL: func.func @unused_forward(
// UNUSED:         math.cos
// UNUSED-LABEL: func.func @unused_backward(
func.func private @unused(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.cos %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func private @external(tensor<3xf32>) -> tensor<3xf32>
