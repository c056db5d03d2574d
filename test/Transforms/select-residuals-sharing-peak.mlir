// The estimate of the peak where kernels of operations that share operands move further together, for a CPU.
// Tensors of 32 and 64 elements take 128 and 256 bytes.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s

// %r3, the last one to read %t, %h and %a, moves to %r2. With it, %r2 moves to %r1, though neither %r1 nor
// %r2 alone would free as much as it makes: %t, %h, %a, %r1, %r2 and %r3 are there beside the result.

// CHECK: within 1 bytes: the lowest peak is 1664 bytes
func.func @gate(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %r1 = fad.opaque "join" elementwise (%t, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %k1 = fad.opaque "weigh" keep (%r1) : (tensor<64xf32>) -> tensor<32xf32>
  %r2 = fad.opaque "join" elementwise (%t, %h) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %k2 = fad.opaque "weigh" keep (%r2) : (tensor<64xf32>) -> tensor<32xf32>
  %r3 = fad.opaque "join" elementwise (%t, %h, %a) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%r3, %k1, %k2) : (tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %r3 reads %r2, too, it is behind that in the kernel, and written over %h, which %r1 does not read.

// CHECK: within 1 bytes: the lowest peak is 1408 bytes
func.func @behind(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %r1 = fad.opaque "join" elementwise (%t, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %k1 = fad.opaque "weigh" keep (%r1) : (tensor<64xf32>) -> tensor<32xf32>
  %r2 = fad.opaque "join" elementwise (%t, %h) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %k2 = fad.opaque "weigh" keep (%r2) : (tensor<64xf32>) -> tensor<32xf32>
  %r3 = fad.opaque "join" elementwise (%t, %h, %a, %r2) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%r3, %k1, %k2) : (tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %r2 and %r3 have 512 bytes each, more than %t, %h and %a, they stay behind %k1: it and the result are
// beside all of these.

// CHECK: within 1 bytes: the lowest peak is 2048 bytes
func.func @larger(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %r1 = fad.opaque "join" elementwise (%t, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %k1 = fad.opaque "weigh" keep (%r1) : (tensor<64xf32>) -> tensor<32xf32>
  %r2 = fad.opaque "join" elementwise (%t, %h) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf64>
  %k2 = fad.opaque "weigh" keep (%r2) : (tensor<64xf64>) -> tensor<32xf32>
  %r3 = fad.opaque "join" elementwise (%t, %h, %a) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf64>
  %e = fad.opaque "adjoint" keep (%r3, %k1, %k2) : (tensor<64xf64>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// %s, a sum of 4 bytes, reads %t with %r2, and does not move: %r2 and %r3 stay behind %k1.

// CHECK: within 1 bytes: the lowest peak is 1284 bytes
func.func @held(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %r1 = fad.opaque "join" elementwise (%t, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %k1 = fad.opaque "weigh" keep (%r1) : (tensor<64xf32>) -> tensor<32xf32>
  %r2 = fad.opaque "join" elementwise (%t, %h) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %s = fad.opaque "sum" reduction (%t) : (tensor<64xf32>) -> tensor<1xf32>
  %k2 = fad.opaque "weigh" keep (%r2) : (tensor<64xf32>) -> tensor<32xf32>
  %r3 = fad.opaque "join" elementwise (%t, %h, %a) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%r3, %k1, %k2, %s) : (tensor<64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// %r moves to %z with "both", whose first result it computes. %q then moves there, too, where both read %u,
// and not to where "both" was: %u, %v, %w of 512 bytes, %z, the second result, %r and %q are there.

// CHECK: within 1 bytes: the lowest peak is 2176 bytes
func.func @left(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %u = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %v = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %w = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf64>
  %z = fad.opaque "join" elementwise (%v, %w) : (tensor<64xf32>, tensor<64xf64>) -> tensor<64xf32>
  %k1 = fad.opaque "weigh" keep (%z) : (tensor<64xf32>) -> tensor<32xf32>
  %m:2 = fad.opaque "both" elementwise (%u, %v) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %k2 = fad.opaque "weigh" keep (%m#1, %k1) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %r = fad.opaque "join" elementwise (%v, %w, %m#0) : (tensor<64xf32>, tensor<64xf64>, tensor<64xf32>) -> tensor<64xf32>
  %k3 = fad.opaque "weigh" keep (%r, %k2) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %q = fad.opaque "triple" elementwise (%u) : (tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%q, %k3) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}
