// The estimate of the peak where Inductor reorders the kernels of backward. Tensors of 32
// elements take 128 bytes.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU

// %w, a gradient of 512 bytes, comes last, when %h is free: the result, the cotangent, %e and %w are
// there at once. In the order of the program, %h, of 256 bytes, would be there, too.

// CHECK: within 1 bytes: the lowest peak is 896 bytes
func.func @last(%y: tensor<128xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<128xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %w = fad.opaque "weights" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%h) : (tensor<64xf32>) -> tensor<32xf32>
  return %d, %w, %e : tensor<32xf32>, tensor<128xf32>, tensor<32xf32>
}

// -----

// A gradient that is a view of %w keeps it.

// CHECK: within 1 bytes: the lowest peak is 896 bytes
func.func @view(%y: tensor<128xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<128xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %w = fad.opaque "weights" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %v = fad.opaque "view" view (%w) : (tensor<128xf32>) -> tensor<128xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%h) : (tensor<64xf32>) -> tensor<32xf32>
  return %d, %v, %e : tensor<32xf32>, tensor<128xf32>, tensor<32xf32>
}

// -----

// The order of the program stays where its peak is no higher: %h, of 1024 bytes, is there with %e, the
// result and the cotangent. The greedy order would have %w, which fits below the gradients' 384 bytes, beside
// %h.

// CHECK: within 1 bytes: the lowest peak is 1408 bytes
func.func @program(%y: tensor<64xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<256xf32>
  %e = fad.opaque "adjoint" keep (%h) : (tensor<256xf32>) -> tensor<32xf32>
  %w = fad.opaque "weights" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  return %d, %w, %e : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// %s has no buffer in the greedy order, either, and %p is written over %h.

// CHECK: within 1 bytes: the lowest peak is 896 bytes
func.func @fused(%y: tensor<128xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<128xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %w = fad.opaque "weights" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %s = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%s) : (tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%p) : (tensor<64xf32>) -> tensor<32xf32>
  return %d, %w, %e : tensor<32xf32>, tensor<128xf32>, tensor<32xf32>
}

// -----

// Nothing fits below the 1024 bytes of %k, which is saved: of %a and %h, of 512 and 1024 bytes, %a comes
// first, as it has fewer, and then %c. %h is there with %k, %c, the result and the cotangent.

// CHECK: within 1 bytes: the lowest peak is 2560 bytes
func.func @fewest(%y: tensor<64xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %k = fad.opaque "spread" keep (%x) : (tensor<32xf32>) -> tensor<256xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %h = fad.opaque "join" keep (%k, %g) : (tensor<256xf32>, tensor<32xf32>) -> tensor<256xf32>
  %c = fad.opaque "adjoint" keep (%a) : (tensor<128xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%h) : (tensor<256xf32>) -> tensor<32xf32>
  return %d, %c, %e : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// %p, which is computed once, is in memory for two kernels behind %k, as in the order of the program. In the
// greedy one, %k comes first: then %h, %p, %k, %m1 and %m2 are there at once, of which a GPU has two in the
// same memory.

// CPU: within 1 bytes: the lowest peak is 1536 bytes
// GPU: within 1 bytes: the lowest peak is 1280 bytes
func.func @in_memory(%y: tensor<128xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<128xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %w = fad.opaque "weights" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %q = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.elementwise ins(%h : tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: f32):
    %t = math.exp %a : f32
    fad.yield %t : f32
  }
  %k = fad.opaque "weigh" keep (%q) : (tensor<64xf32>) -> tensor<64xf32>
  %m1 = fad.opaque "join" elementwise (%p, %k) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %m2 = fad.opaque "join" elementwise (%p, %k) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m1, %m2, %h) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  return %d, %w, %e : tensor<32xf32>, tensor<128xf32>, tensor<32xf32>
}

// -----

// The order of the program has %a, %b and %c at once, and the greedy one %a, %c and %e, of 512, 512 and
// 128 bytes. The lowest peak is that of the depth-first one, where %a is read before %c is made.

// CHECK: within 1 bytes: the lowest peak is 1024 bytes
func.func @depth_first(%y: tensor<128xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<128xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %b = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %c = fad.opaque "weights" keep (%b) : (tensor<64xf32>) -> tensor<128xf32>
  %e = fad.opaque "adjoint" keep (%a) : (tensor<128xf32>) -> tensor<32xf32>
  return %d, %c, %e : tensor<32xf32>, tensor<128xf32>, tensor<32xf32>
}

// -----

// Without %w, which comes last, %r and %s follow each other, and read %a. They are two kernels: %b, of 16384
// bytes, is free before %s is made. The most are %a, %b, %m and %r beside the result.

// CHECK: within 1 bytes: the lowest peak is 17152 bytes
func.func @two(%y: tensor<4096xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<4096xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %a = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<4096xf32>
  %m = fad.opaque "weigh" keep (%b) : (tensor<4096xf32>) -> tensor<32xf32>
  %r = fad.opaque "join" elementwise (%a, %b) : (tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32>
  %w = fad.opaque "weights" keep (%r) : (tensor<64xf32>) -> tensor<4096xf32>
  %s = fad.opaque "join" elementwise (%a, %m) : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %t = fad.opaque "product" keep (%a, %r, %s) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2048xf32>
  %e = fad.opaque "adjoint" keep (%t) : (tensor<2048xf32>) -> tensor<32xf32>
  return %d, %w, %e : tensor<32xf32>, tensor<4096xf32>, tensor<32xf32>
}

// -----

// %s is written over zeros, which another kernel makes, of 256 bytes. In the greedy order, that comes behind
// %w, before %p: %z, %p, %q and %w, of 256, 384, 128 and 128 bytes, would be as much as %a, %p and %w, of
// 384, 384 and 128, in the order of the program, which stays.

// CHECK: within 1 bytes: the lowest peak is 1152 bytes
func.func @zeros(%y: tensor<64xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %a = fad.opaque "spread" keep (%x) : (tensor<32xf32>) -> tensor<96xf32>
  %p = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<96xf32>
  %w = fad.opaque "weights" keep (%a, %g) : (tensor<96xf32>, tensor<32xf32>) -> tensor<32xf32>
  %q = fad.opaque "adjoint" keep (%p) : (tensor<96xf32>) -> tensor<32xf32>
  %z = fad.opaque "zeros" repeat () : () -> tensor<64xf32>
  %s = fad.opaque "scatter" keep (%z, %q) {fad.overwrites} : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  return %d, %s, %w : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// Where %a and %p have 512 bytes, the greedy order is lower: the zeros are there with %p, %w, the result, and
// the cotangent or %q.

// CHECK: within 1 bytes: the lowest peak is 1152 bytes
func.func @early_zeros(%y: tensor<64xf32>, %x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %a = fad.opaque "spread" keep (%x) : (tensor<32xf32>) -> tensor<128xf32>
  %p = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %w = fad.opaque "weights" keep (%a, %g) : (tensor<128xf32>, tensor<32xf32>) -> tensor<32xf32>
  %q = fad.opaque "adjoint" keep (%p) : (tensor<128xf32>) -> tensor<32xf32>
  %z = fad.opaque "zeros" repeat () : () -> tensor<64xf32>
  %s = fad.opaque "scatter" keep (%z, %q) {fad.overwrites} : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  return %d, %s, %w : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// %m, of 512 bytes, reads %k alone, of 256, and is in memory for %c. By itself, it comes behind %w in the
// greedy order, and is there with %p and %q, of 512 bytes each, %w and the result. On a GPU, it is one kernel
// with the sum of its rows, and so behind %q: %a, of 1024 bytes, is then there with %k, %w, the result and
// the cotangent.

// CPU: within 1 bytes: the lowest peak is 1792 bytes
// GPU: within 1 bytes: the lowest peak is 1664 bytes
func.func @rows(%y: tensor<4xf32>, %x: tensor<32xf32>, %v: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<4xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64}, tensor<32xf32> {fad.gradient = 2 : i64})
    attributes {fad.fuses = #fad.fusion<>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %a = fad.opaque "spread" keep (%x) : (tensor<32xf32>) -> tensor<256xf32>
  %k = fad.opaque "spread" keep (%x, %v) : (tensor<32xf32>, tensor<32xf32>) -> tensor<4x32xf16>
  %p = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %w = fad.opaque "weights" keep (%a, %g) : (tensor<256xf32>, tensor<32xf32>) -> tensor<32xf32>
  %q = fad.opaque "adjoint" keep (%p) : (tensor<128xf32>) -> tensor<4x32xf32>
  %m = fad.opaque "widen" elementwise (%k) : (tensor<4x32xf16>) -> tensor<4x32xf32>
  %r = fad.opaque "sum" reduction (%m, %q) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4xf32>
  %c = fad.opaque "columns" keep (%m, %q) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<32xf32>
  return %d, %r, %w, %c : tensor<32xf32>, tensor<4xf32>, tensor<32xf32>, tensor<32xf32>
}
