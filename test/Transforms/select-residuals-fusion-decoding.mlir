// Two operations of backward read %b, and a product runs between. A kernel computes %b by 10 operations: it
// reads the bytes of the mask, %a1 and %a2, widens a byte, shifts it by its number, two operations, masks the bit,
// two as well, takes that for a truth value, and selects. Up to so many, %a1 and %a2, of 256 bytes each, wait beside
// %c, of 256, and %k and %y, of 128 each. Beyond, %b is computed once, over %a1. The mask takes 8 bytes.

// RUN: sed 's/LIMIT/operations = 10/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/LIMIT/operations = 9/' %s | not fad-opt --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ONCE

// AGAIN: the lowest peak is 1032 bytes
// ONCE:  the lowest peak is 904 bytes

func.func @shared(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<LIMIT>} {
  %h = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %m = fad.elementwise ins(%h : tensor<64xf32>) -> tensor<64xi1> {
  ^bb0(%p: f32):
    %zero = arith.constant 0.0 : f32
    %r = arith.cmpf ogt, %p, %zero : f32
    fad.yield %r : i1
  }
  %y = fad.opaque "product" keep (%h) : (tensor<64xf32>) -> tensor<32xf32>
  %a1 = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %a2 = fad.opaque "other" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %b = fad.elementwise ins(%m, %a1, %a2 : tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: i1, %q: f32, %r: f32):
    %s = arith.select %p, %q, %r : f32
    fad.yield %s : f32
  }
  %c = fad.opaque "double" elementwise (%b) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %f = fad.opaque "join" elementwise (%b, %k) : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%f) : (tensor<64xf32>) -> tensor<32xf32>
  return %y, %d : tensor<32xf32>, tensor<32xf32>
}
