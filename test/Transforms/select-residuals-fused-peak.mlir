// The estimate of the peak for a compiler that fuses elementwise operations. Tensors of
// 32 and 64 elements take 128 and 256 bytes. At the end of each function are its result,
// its cotangent and its gradient: 384 bytes.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s
// RUN: sed 's/once = .*>}/>}/' %s | not fad-opt --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s --check-prefix=AGAIN

// One by one, operations make %b beside %a, and %c beside %b.

// CHECK: within 1 bytes: the lowest peak is 512 bytes
func.func @one_by_one(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %c = fad.opaque "shift" elementwise (%b) : (tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Fused, %b has no buffer, and %c is written over %a.

// CHECK: within 1 bytes: the lowest peak is 384 bytes
func.func @fused(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.opaque "double" elementwise (%a) : (tensor<64xf32>) -> tensor<64xf32>
  %c = fad.opaque "shift" elementwise (%b) : (tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// A reduction fuses with its operand, so that %b has no buffer; its result does not.

// CHECK: within 1 bytes: the lowest peak is 512 bytes
func.func @reduced(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<96xf32>
  %b = fad.opaque "double" elementwise (%a) : (tensor<96xf32>) -> tensor<64xf32>
  %d = fad.opaque "sum" reduction (%b) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Another kernel runs between %b and its reader. One operation alone reads %b, so that the
// kernel of %c computes it: %a, of 512 bytes, waits for that beside %k and %c, of 256 each.

// CHECK: within 1 bytes: the lowest peak is 1024 bytes
func.func @between(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<128xf32>
  %b = fad.opaque "halve" elementwise (%a) : (tensor<128xf32>) -> tensor<32xf32>
  %k = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %c = fad.opaque "join" elementwise (%b, %k) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Two operations read %b, and a product runs between. A kernel computes it again, for that
// takes no exponential: %a1 and %a2, of 256 bytes each, wait beside %c, of 256, and %k, of 128.

// CHECK: within 1 bytes: the lowest peak is 896 bytes
func.func @shared_sum(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
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

// -----

// An exponential is computed once, and written over %a1, with %c in a kernel that has %a2, or computed
// again, too.

// CHECK: within 1 bytes: the lowest peak is 768 bytes
// AGAIN-COUNT-5: the lowest peak is
// AGAIN: within 1 bytes: the lowest peak is 896 bytes
func.func @shared_exponential(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a1 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %a2 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %b = fad.elementwise ins(%a1, %a2 : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    %t = math.exp %s : f32
    fad.yield %t : f32
  }
  %c = fad.opaque "double" elementwise (%b) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %f = fad.opaque "join" elementwise (%b, %k) : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%f) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// One operation reads an exponential, and repeats its elements. It is computed once, over
// %a1, of 384 bytes, and has %k, of 128, and %c, of 512, beside it; or %a1 and %a2 wait.

// CHECK: within 1 bytes: the lowest peak is 1024 bytes
// AGAIN: within 1 bytes: the lowest peak is 1408 bytes
func.func @broadcast_exponential(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a1 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<96xf32>
  %a2 = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<96xf32>
  %b = fad.elementwise ins(%a1, %a2 : tensor<96xf32>, tensor<96xf32>) -> tensor<96xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    %t = math.exp %s : f32
    fad.yield %t : f32
  }
  %k = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %c = fad.opaque "repeat" elementwise (%b, %k) : (tensor<96xf32>, tensor<32xf32>) -> tensor<128xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<128xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// An operation may write its result over its operand, here over zeros.

// CHECK: within 1 bytes: the lowest peak is 384 bytes
func.func @overwritten(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %z = fad.opaque "zeros" repeat () : () -> tensor<64xf32>
  %c = fad.opaque "scatter" keep (%z, %x) {fad.overwrites} : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Each of two makes its own zeros, which are nowhere else: with %p, the second has 256 bytes, and the product
// 128.

// CHECK: within 1 bytes: the lowest peak is 512 bytes
func.func @overwritten_twice(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %z = fad.opaque "zeros" repeat () : () -> tensor<64xf32>
  %c1 = fad.opaque "scatter" keep (%z, %x) {fad.overwrites} : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "product" keep (%c1) : (tensor<64xf32>) -> tensor<32xf32>
  %c2 = fad.opaque "scatter" keep (%z, %p) {fad.overwrites} : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c2, %p) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Another operand of its size is not written over by the zeros.

// CHECK: within 1 bytes: the lowest peak is 512 bytes
func.func @overwritten_first(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %v = fad.opaque "spread" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %z = fad.opaque "zeros" repeat () : () -> tensor<64xf32>
  %c = fad.opaque "scatter" keep (%z, %v) {fad.overwrites} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// A copy has another layout than %a, and is not written over it: both take 256 bytes at once.

// CHECK: within 1 bytes: the lowest peak is 512 bytes
func.func @copied(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %c = fad.elementwise ins(%a : tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: f32):
    fad.yield %p : f32
  }
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// A kernel takes memory for itself.

// CHECK: within 1 bytes: the lowest peak is 1384 bytes
func.func @scratch(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) {fad.scratch = 1000 : i64} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// The kernel before %k computes %q for it, and %m beside that, of %p, too: %m is written over %h, and
// %p has no buffer. With %k, of 512 bytes, are %q and %m of 256 each, the result and the cotangent.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
func.func @beside(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf16>
  %d = fad.opaque "product" keep (%a) : (tensor<64xf16>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.elementwise ins(%a : tensor<64xf16>) -> tensor<64xf32> {
  ^bb0(%v: f16):
    %w = arith.extf %v : f16 to f32
    %t = math.exp %w : f32
    fad.yield %t : f32
  }
  %q = fad.opaque "double" elementwise (%p) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%q, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<128xf32>
  %m = fad.opaque "join" elementwise (%h, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %k) : (tensor<64xf32>, tensor<128xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// With %m, its operands behind %k move that read nothing of the kernel before: %s, and the view %v, which
// %a, of 128 bytes and given, is enough for.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
func.func @along(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf16>
  %d = fad.opaque "product" keep (%a) : (tensor<64xf16>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.elementwise ins(%a : tensor<64xf16>) -> tensor<64xf32> {
  ^bb0(%v: f16):
    %w = arith.extf %v : f16 to f32
    %t = math.exp %w : f32
    fad.yield %t : f32
  }
  %q = fad.opaque "double" elementwise (%p) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%q, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<128xf32>
  %s = fad.opaque "half" elementwise (%a) : (tensor<64xf16>) -> tensor<64xf16>
  %u = tensor.expand_shape %s [[0, 1]] output_shape [2, 32] : tensor<64xf16> into tensor<2x32xf16>
  %v = tensor.collapse_shape %u [[0, 1]] : tensor<2x32xf16> into tensor<64xf16>
  %m = fad.opaque "join" elementwise (%h, %p, %v) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf16>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %k) : (tensor<64xf32>, tensor<128xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %m needs %k, %p and %h wait for it, and %m is written over one of them.

// CHECK: within 1 bytes: the lowest peak is 1536 bytes
func.func @behind(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf16>
  %d = fad.opaque "product" keep (%a) : (tensor<64xf16>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.elementwise ins(%a : tensor<64xf16>) -> tensor<64xf32> {
  ^bb0(%v: f16):
    %w = arith.extf %v : f16 to f32
    %t = math.exp %w : f32
    fad.yield %t : f32
  }
  %q = fad.opaque "double" elementwise (%p) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%q, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<128xf32>
  %m = fad.opaque "join" elementwise (%h, %p, %k) : (tensor<64xf32>, tensor<64xf32>, tensor<128xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m) : (tensor<64xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// One kernel computes %p and %m, of 256 bytes each, as both read %h: %m is written over %h, and %j is
// freed, which %q reads. With %k, of 512 bytes, are %p and %m, the result and the cotangent.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
func.func @sharing(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %j = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<128xf32>
  %q = fad.opaque "double" elementwise (%j) : (tensor<64xf32>) -> tensor<64xf32>
  %m = fad.opaque "join" elementwise (%h, %q) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %p, %k) : (tensor<64xf32>, tensor<64xf32>, tensor<128xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %m needs %k, of which %q is, too, %h and %j wait for it.

// CHECK: within 1 bytes: the lowest peak is 1536 bytes
func.func @waiting(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %j = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<128xf32>
  %q = fad.opaque "join" elementwise (%j, %k) : (tensor<64xf32>, tensor<128xf32>) -> tensor<64xf32>
  %m = fad.opaque "join" elementwise (%h, %q) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %p, %k) : (tensor<64xf32>, tensor<64xf32>, tensor<128xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// No other kernel is between %p and %m, but %n, with other operands. %m runs with %p: the result, the
// cotangent, %p, %m and %n are there at once, of 128 and of 256 bytes.

// CHECK: within 1 bytes: the lowest peak is 1024 bytes
func.func @together(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %j = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %n = fad.opaque "repeat" elementwise (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %m = fad.opaque "join" elementwise (%h, %j) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %p, %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %m reads %n, too, %h and %j are there beside %p and %n.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
func.func @apart(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %j = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %n = fad.opaque "repeat" elementwise (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %m = fad.opaque "join" elementwise (%h, %j, %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %p, %n) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %m takes 256 bytes, and frees the 128 of %h alone, it stays behind %k, which takes 640
// beside %p and %h.

// CHECK: within 1 bytes: the lowest peak is 1280 bytes
func.func @larger(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf16>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf16>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<160xf32>
  %r = fad.opaque "sum" keep (%k, %p) : (tensor<160xf32>, tensor<64xf32>) -> tensor<32xf32>
  %m = fad.opaque "triple" elementwise (%h) : (tensor<64xf16>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %r) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Kernels of other sizes have other loops: %m stays behind %k, and %h and %j wait for it
// beside the 1024 bytes that %k takes.

// CHECK: within 1 bytes: the lowest peak is 2176 bytes
func.func @of_another_size(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %j = fad.opaque "spread" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) {fad.scratch = 1024} : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %m = fad.opaque "join" elementwise (%h, %j) : (tensor<64xf32>, tensor<64xf32>) -> tensor<96xf32>
  %e = fad.opaque "adjoint" keep (%m, %p) : (tensor<96xf32>, tensor<64xf32>) -> tensor<32xf32>
  %f = fad.opaque "shift" keep (%e, %k) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %f : tensor<32xf32>, tensor<32xf32>
}

// -----

// Where %h has parts that %p and %m read, they share none of it: it waits, with 512 bytes, beside %p and
// the 1024 bytes that %k takes.

// CHECK: within 1 bytes: the lowest peak is 2176 bytes
func.func @of_parts(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<128xf32>
  %h1 = fad.opaque "first" view (%h) : (tensor<128xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h1) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) {fad.scratch = 1024} : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %h2 = fad.opaque "last" view (%h) : (tensor<128xf32>) -> tensor<64xf32>
  %m = fad.opaque "triple" elementwise (%h2) : (tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %p, %k) : (tensor<64xf32>, tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// A gradient lasts, whatever reads it last: %m waits, which would take as much beside it.

// CHECK: within 1 bytes: the lowest peak is 1408 bytes
func.func @direct(%x: tensor<64xf32>, %w: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<64xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<160xf32>
  %r = fad.opaque "sum" keep (%k, %p) : (tensor<160xf32>, tensor<64xf32>) -> tensor<32xf32>
  %m = fad.opaque "triple" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %r) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %h, %e : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}

// -----

// So does the operand of a view that is a gradient.

// CHECK: within 1 bytes: the lowest peak is 1408 bytes
func.func @viewed(%x: tensor<64xf32>, %w: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<64xf32> {fad.gradient = 0 : i64}, tensor<32xf32> {fad.gradient = 1 : i64})
    attributes {fad.fuses = #fad.fusion<once = ["math.exp"]>} {
  %d = fad.opaque "product" keep (%x) : (tensor<64xf32>) -> tensor<32xf32>
  %h = fad.opaque "spread" keep (%g) : (tensor<32xf32>) -> tensor<64xf32>
  %p = fad.opaque "double" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %k = fad.opaque "weigh" keep (%p, %g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<160xf32>
  %r = fad.opaque "sum" keep (%k, %p) : (tensor<160xf32>, tensor<64xf32>) -> tensor<32xf32>
  %m = fad.opaque "triple" elementwise (%h) : (tensor<64xf32>) -> tensor<64xf32>
  %e = fad.opaque "adjoint" keep (%m, %r) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  %v = fad.opaque "view" view (%h) : (tensor<64xf32>) -> tensor<64xf32>
  return %d, %v, %e : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>
}
