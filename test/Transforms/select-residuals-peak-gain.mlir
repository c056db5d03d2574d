// A slower selection has to lower the peak by a hundred-thousandth of it. Backward reads %s
// after %t is gone. Where %s is computed again, its 32 bytes are not there beside %t.

// RUN: not fad-opt %s --split-input-file --fad-select-residuals="recompute=contractions peak-budget=1" 2>&1 | FileCheck %s

// Beside %t of 400,000 bytes are the result and the cotangent, of 32 bytes each.

// CHECK: within 1 bytes: the lowest peak is 400064 bytes
func.func @enough(%x: tensor<8xf32>, %g: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32>, tensor<8xf32> {fad.gradient = 0 : i64}) {
  %s = fad.opaque "scale" contraction time 1000000 (%x) : (tensor<8xf32>) -> tensor<8xf32>
  %y = fad.opaque "apply" keep (%s) : (tensor<8xf32>) -> tensor<8xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<8xf32>) -> tensor<100000xf32>
  %u = fad.opaque "gather" keep (%t) : (tensor<100000xf32>) -> tensor<8xf32>
  %e = fad.opaque "adjoint" keep (%u, %s) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %e : tensor<8xf32>, tensor<8xf32>
}

// -----

// Beside %t of 4,000,000 bytes, the 32 bytes of %s gain too little: it is saved.

// CHECK: within 1 bytes: the lowest peak is 4000096 bytes
func.func @too_little(%x: tensor<8xf32>, %g: tensor<8xf32> {fad.cotangent = 0 : i64})
    -> (tensor<8xf32>, tensor<8xf32> {fad.gradient = 0 : i64}) {
  %s = fad.opaque "scale" contraction time 1000000 (%x) : (tensor<8xf32>) -> tensor<8xf32>
  %y = fad.opaque "apply" keep (%s) : (tensor<8xf32>) -> tensor<8xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<8xf32>) -> tensor<1000000xf32>
  %u = fad.opaque "gather" keep (%t) : (tensor<1000000xf32>) -> tensor<8xf32>
  %e = fad.opaque "adjoint" keep (%u, %s) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %e : tensor<8xf32>, tensor<8xf32>
}
