// The estimate of the peak for kernels of several operations. Tensors of 32 and 64 elements take
// 128 and 256 bytes.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s
// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=GPU

// On a CPU, %s waits for %m: one kernel computes %s, %t and %m. None of these is written over %a or
// %b, which another of them reads that it does not depend on: five of 256 bytes are there. On a
// GPU, %t is written over %a, and %m behind it over %b: three are there, and %d.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
// GPU: within 1 bytes: the lowest peak is 896 bytes
func.func @gate(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %s = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %b = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %m = fad.opaque "join" elementwise (%s, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %t = fad.opaque "join" elementwise (%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%m) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %s, %t, %e : tensor<32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// Nothing else reads %a behind %s, which does not wait, and is written over it, as %m is over %b: %s,
// %m and %d are there.

// CHECK: within 1 bytes: the lowest peak is 640 bytes
// GPU: within 1 bytes: the lowest peak is 640 bytes
func.func @alone(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %s = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %b = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %m = fad.opaque "join" elementwise (%s, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%m) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %s, %e : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// %r waits for %q, which is behind %p: %p is the first to read %a then, which does not wait.

// CHECK: within 1 bytes: the lowest peak is 100512 bytes
// GPU: within 1 bytes: the lowest peak is 100768 bytes
func.func @early(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "act" elementwise (%x) : (tensor<64xf32>) -> tensor<64xf32>
  %r = fad.opaque "gate" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %p = fad.opaque "product" keep (%a) {fad.scratch = 100000 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%r, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "loss" keep (%q, %r) : (tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %a, %e : tensor<32xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// The other result of "both" is computed where %w reads it, so that "both" does not wait for %q.

// CHECK: within 1 bytes: the lowest peak is 100516 bytes
// GPU: within 1 bytes: the lowest peak is 100516 bytes
func.func @multi(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %v:2 = fad.opaque "both" elementwise (%x) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %w = fad.opaque "sum" reduction (%v#0) : (tensor<64xf32>) -> tensor<1xf32>
  %k = fad.opaque "big" keep (%w) {fad.scratch = 100000 : i64} : (tensor<1xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%v#1, %k) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%q) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %v#1, %e : tensor<32xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// One kernel computes %s and %t, and is not the last to read %a: %u is written over that.

// CHECK: within 1 bytes: the lowest peak is 8448 bytes
// GPU: within 1 bytes: the lowest peak is 8448 bytes
func.func @held2(%x: tensor<32xf32>, %y: tensor<1024xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<1024xf32>
  %s = fad.opaque "double" elementwise (%a) : (tensor<1024xf32>) -> tensor<1024xf16>
  %t = fad.opaque "treble" elementwise (%a) : (tensor<1024xf32>) -> tensor<1024xf16>
  %d = fad.opaque "product" keep (%s, %t) : (tensor<1024xf16>, tensor<1024xf16>) -> tensor<32xf32>
  %z = fad.opaque "make" keep (%d) : (tensor<32xf32>) -> tensor<1024xf32>
  %u = fad.opaque "quad" elementwise (%a, %z) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %h = fad.opaque "product" keep (%u, %z) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %h, %e : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// %r waits for %q on a CPU, and %r1 for %r: neither is there beside the product. On a GPU, both are.

// CHECK: within 1 bytes: the lowest peak is 100256 bytes
// GPU: within 1 bytes: the lowest peak is 100768 bytes
func.func @chain(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %r1 = fad.opaque "act" elementwise (%x) : (tensor<64xf32>) -> tensor<64xf32>
  %r = fad.opaque "gate" elementwise (%r1) : (tensor<64xf32>) -> tensor<64xf32>
  %p = fad.opaque "product" keep (%x) {fad.scratch = 100000 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%r, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "loss" keep (%q, %r, %r1) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %e : tensor<32xf32>, tensor<64xf32>
}

// -----

// %q has other loops: %r is computed where it is, and there beside the product.

// CHECK: within 1 bytes: the lowest peak is 100512 bytes
// GPU: within 1 bytes: the lowest peak is 100512 bytes
func.func @of_another_size(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %r = fad.opaque "gate" elementwise (%x) : (tensor<64xf32>) -> tensor<64xf32>
  %p = fad.opaque "product" keep (%x) {fad.scratch = 100000 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%r, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<96xf32>
  %d = fad.opaque "loss" keep (%q, %r) : (tensor<96xf32>, tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %e : tensor<32xf32>, tensor<64xf32>
}

// -----

// %s and %t are no kernel, as %s has 96 elements: %t is written over %a, and the most bytes are those of %s, %t
// and %d.

// CHECK: within 1 bytes: the lowest peak is 576 bytes
// GPU: within 1 bytes: the lowest peak is 576 bytes
func.func @two(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %s = fad.opaque "spread" elementwise (%a) : (tensor<64xf32>) -> tensor<96xf16>
  %t = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%s, %t) : (tensor<96xf16>, tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// A result that is a view keeps %a to the end, so that %r waits for %q.

// CHECK: within 1 bytes: the lowest peak is 100512 bytes
// GPU: within 1 bytes: the lowest peak is 100768 bytes
func.func @of_result(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<64xf32>) -> tensor<64xf32>
  %v = fad.opaque "view" view (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r = fad.opaque "gate" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %p = fad.opaque "product" keep (%x) {fad.scratch = 100000 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%r, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "loss" keep (%q, %r) : (tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %v, %e : tensor<32xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Nothing reads %a behind %r, which does not wait, as it has half of the bytes.

// CHECK: within 1 bytes: the lowest peak is 100384 bytes
// GPU: within 1 bytes: the lowest peak is 100384 bytes
func.func @smaller(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<64xf32>) -> tensor<64xf32>
  %r = fad.opaque "gate" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf16>
  %p = fad.opaque "product" keep (%x) {fad.scratch = 100000 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%r, %p) : (tensor<64xf16>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "loss" keep (%q, %r) : (tensor<64xf32>, tensor<64xf16>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %e : tensor<32xf32>, tensor<64xf32>
}

// -----

// %v, a view of %r, waits for it: %r, which is computed once, has no buffer beside %p, %q and %s. On a GPU, it
// has one beside %p and %q, and %s is written over it.

// CHECK: within 1 bytes: the lowest peak is 768 bytes
// GPU: within 1 bytes: the lowest peak is 768 bytes
func.func @viewed(%x: tensor<64xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %r = fad.elementwise ins(%x : tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: f32):
    %t = math.exp %a : f32
    fad.yield %t : f32
  }
  %v = fad.opaque "view" view (%r) : (tensor<64xf32>) -> tensor<8x8xf32>
  %p = fad.opaque "product" keep (%x) : (tensor<64xf32>) -> tensor<8x8xf32>
  %q = fad.opaque "join" elementwise (%v, %p) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = fad.opaque "join" elementwise (%v, %p) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = fad.opaque "loss" keep (%q, %s) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d, %e : tensor<32xf32>, tensor<64xf32>
}

// -----

// A kernel has at most 64 operations: all results but the last of 65 are there beside %a and %b, which has
// 16384 bytes. On a GPU, the first one alone is.

// CHECK: within 1 bytes: the lowest peak is 33024 bytes
// GPU: within 1 bytes: the lowest peak is 16896 bytes
func.func @many(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<4096xf32>
  %r0 = fad.opaque "join" elementwise (%a, %b) : (tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32>
  %r1 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r2 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r3 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r4 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r5 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r6 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r7 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r8 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r9 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r10 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r11 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r12 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r13 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r14 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r15 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r16 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r17 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r18 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r19 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r20 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r21 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r22 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r23 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r24 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r25 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r26 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r27 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r28 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r29 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r30 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r31 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r32 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r33 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r34 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r35 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r36 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r37 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r38 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r39 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r40 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r41 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r42 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r43 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r44 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r45 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r46 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r47 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r48 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r49 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r50 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r51 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r52 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r53 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r54 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r55 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r56 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r57 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r58 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r59 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r60 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r61 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r62 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r63 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %r64 = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "loss" keep (%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14,
      %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32,
      %r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47, %r48, %r49, %r50,
      %r51, %r52, %r53, %r54, %r55, %r56, %r57, %r58, %r59, %r60, %r61, %r62, %r63, %r64)
      : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// On a GPU, %q is computed first, and written over %c. Nothing reads %a and %b behind %p then, which is
// written over one of them: three of 256 bytes are there. The peak
// is behind it: %p, %q, %d, %e and %g. In their order, and on a CPU, a fourth of 256 bytes is there.

// CHECK: within 1 bytes: the lowest peak is 1024 bytes
// GPU: within 1 bytes: the lowest peak is 896 bytes
func.func @both(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %c = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "join" elementwise (%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "join" elementwise (%a, %b, %c) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%p) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %p, %q, %e : tensor<32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// %q depends on %p, and cannot be computed first: %p takes memory of its own, and %q is written over
// an operand.

// CHECK: within 1 bytes: the lowest peak is 1024 bytes
// GPU: within 1 bytes: the lowest peak is 1024 bytes
func.func @depends(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %c = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "join" elementwise (%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %q = fad.opaque "joins" elementwise (%a, %b, %c, %p) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%p) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %p, %q, %e : tensor<32xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32>
}
