// The estimate of the peak for kernels of several operations. Tensors of 32 and 64 elements take
// 128 and 256 bytes.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s
// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1 target=gpu" 2>&1 | FileCheck %s --check-prefix=GPU

// On a CPU, %s waits for %m: one kernel computes %s, %t and %m. None of these is written over %a or
// %b, which another of them reads that it does not depend on: five of 256 bytes are there. On a
// GPU, %t is written over %a behind the others.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
// GPU: within 1 bytes: the lowest peak is 1024 bytes
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
