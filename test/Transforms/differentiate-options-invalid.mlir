// RUN: not fad-opt %s --fad-differentiate=entry=missing 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not fad-opt %s --fad-differentiate=wrt=7 2>&1 | FileCheck %s --check-prefix=WRT

// ENTRY: error: there is no function @missing with a body; name one of @f
// WRT: error: cannot differentiate with respect to argument 7: @f has 1 arguments
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
