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
