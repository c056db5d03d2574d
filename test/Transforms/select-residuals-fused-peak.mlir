// The estimate of the peak for a compiler that fuses elementwise operations. Tensors of
// 32 and 64 elements take 128 and 256 bytes. At the end of each function are its result,
// its cotangent and its gradient: 384 bytes.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="peak-budget=1" 2>&1 | FileCheck %s

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
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) attributes {fad.fuses} {
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
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) attributes {fad.fuses} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<96xf32>
  %b = fad.opaque "double" elementwise (%a) : (tensor<96xf32>) -> tensor<64xf32>
  %d = fad.opaque "sum" reduction (%b) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// Another kernel runs between %b and its reader: %b, of 128 bytes, is made beside %a, of
// 512, which is free before %k is made.

// CHECK: within 1 bytes: the lowest peak is 640 bytes
func.func @between(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) attributes {fad.fuses} {
  %a = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<128xf32>
  %b = fad.opaque "halve" elementwise (%a) : (tensor<128xf32>) -> tensor<32xf32>
  %k = fad.opaque "make" keep (%x) : (tensor<32xf32>) -> tensor<64xf32>
  %c = fad.opaque "join" elementwise (%b, %k) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = fad.opaque "product" keep (%c) : (tensor<64xf32>) -> tensor<32xf32>
  %e = fad.opaque "adjoint" keep (%g, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %d, %e : tensor<32xf32>, tensor<32xf32>
}

// -----

// An operation may write its result over its operand, here over zeros.

// CHECK: within 1 bytes: the lowest peak is 384 bytes
func.func @overwritten(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) attributes {fad.fuses} {
  %z = fad.opaque "zeros" repeat () : () -> tensor<64xf32>
  %c = fad.opaque "scatter" keep (%z, %x) {fad.overwrites} : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
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
