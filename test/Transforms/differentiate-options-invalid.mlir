// RUN: not fad-opt %s --fad-differentiate=entry=missing 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not fad-opt %s --fad-differentiate=wrt=7 2>&1 | FileCheck %s --check-prefix=WRT
// RUN: not fad-opt %s --fad-differentiate=results=1 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not fad-opt %s --fad-differentiate=results=0,0 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not fad-opt %s --fad-nest=results=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// ENTRY: error: there is no function @missing with a body; name one of @f
// WRT: error: cannot differentiate with respect to argument 7: @f has 1 arguments
// RESULT: error: cannot differentiate result 1: @f has 1 results
// TWICE: error: result 0 is listed twice in 'results'
// NEGATIVE: error: cannot differentiate result -1: @f has 1 results
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
