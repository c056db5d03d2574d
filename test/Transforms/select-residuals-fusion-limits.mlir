// Two operations read %b, the sum of %a1 and %a2, and a product runs between. Within the
// limits of #fad.fusion, both compute it: %a1 and %a2, of 256 bytes each, wait beside %c, of
// 256, and %k, of 128. Beyond, it is computed once, over %a1, in the kernel of %c, which has %a2, too.

// RUN: sed 's/LIMITS//' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMITS/reads = 2/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMITS/reads = 1/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: sed 's/LIMITS/operations = 3/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMITS/operations = 2/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: sed 's/LIMITS/shared_reads = 2/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMITS/shared_reads = 1/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: sed 's/LIMITS/shared_operations = 3/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMITS/shared_operations = 2/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: sed 's/LIMITS/once = ["arith.subf", "math.exp"]/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMITS/once = ["arith.addf"]/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE

// AGAIN: the lowest peak is 896 bytes
// ONCE:  the lowest peak is 768 bytes

func.func @shared(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<LIMITS>} {
  %a1 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %a2 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.elementwise ins(%a1, %a2 : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    fad.yield %s : f32
  }
  %c = fad.opaque "double" elementwise (%b) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %f = fad.opaque "join" elementwise (%b, %k) : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%f) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}
