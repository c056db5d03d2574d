// Two operations read %b, and a product runs between. A kernel computes %b by 8 operations: it reads %a1 and
// %a2, squares %a1, adds %a1 and %a2 to the square, doubles one of these sums, and adds both. The square, which
// both sums need, is one operation, the constant 2 is one, and what yields results is none. Up to so many, %a1
// and %a2, of 256 bytes each, wait beside %c, of 256, and %k, of 128. Beyond, %b is computed once, over %a1.

// RUN: sed 's/LIMIT/operations = 8/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMIT/operations = 7/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: sed 's/LIMIT/shared_operations = 8/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMIT/shared_operations = 7/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE

// AGAIN: the lowest peak is 896 bytes
// ONCE:  the lowest peak is 768 bytes

func.func @shared(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<LIMIT>} {
  %a1 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %a2 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %s = fad.elementwise ins(%a1 : tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32):
    %r = arith.mulf %p, %p : f32
    fad.yield %r : f32
  }
  %t = fad.elementwise ins(%s, %a1 : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    fad.yield %r : f32
  }
  %u = fad.elementwise ins(%s, %a2 : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    fad.yield %r : f32
  }
  %b = fad.elementwise ins(%t, %u : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32, %q: f32):
    %two = arith.constant 2.0 : f32
    %v = arith.mulf %q, %two : f32
    %r = arith.addf %p, %v : f32
    fad.yield %r : f32
  }
  %c = fad.opaque "double" elementwise (%b) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %f = fad.opaque "join" elementwise (%b, %k) : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%f) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}
