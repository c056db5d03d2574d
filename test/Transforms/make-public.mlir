// RUN: fad-opt %s --fad-make-public=entry=hidden | FileCheck %s --check-prefix=HIDDEN
// RUN: fad-opt %s --fad-make-public | FileCheck %s --check-prefix=REQUESTED
// RUN: not fad-opt %s --fad-make-public=entry=none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: there is no function @none with a body; name one of @hidden, @requested

// HIDDEN: func.func @hidden(
// HIDDEN: func.func private @requested(
// REQUESTED: func.func private @hidden(
// REQUESTED: func.func @requested(
func.func private @hidden(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func private @requested(%x: tensor<3xf32>) -> tensor<3xf32> attributes {fad.request = #fad.request<>} {
  return %x : tensor<3xf32>
}
