// Where two selections are far apart, smaller parts change over. Beside a temporary of 4,000 bytes are
// the result and its reduction, of 8 each. There, %w takes 400 bytes, and each %n 100. To
// compute %w again takes the least time for a byte, and more than two of %n.

// DEFINE: %{within} = fad-opt %s --fad-select-residuals="recompute=contractions peak-budget
// RUN: %{within}=4516" | FileCheck %s --check-prefix=TWO
// RUN: %{within}=4515" | FileCheck %s --check-prefix=WIDE

// TWO:         fad.opaque "apply"
// TWO-COUNT-2: fad.opaque "narrow" contraction
// TWO-NOT:     contraction
// WIDE:        fad.opaque "apply"
// WIDE-NOT:    contraction
// WIDE:        fad.opaque "wide" contraction
// WIDE-NOT:    contraction
func.func @gap(%x: tensor<2xf32>, %g: tensor<2xf32> {fad.cotangent = 0 : i64})
    -> (tensor<2xf32>, tensor<2xf32> {fad.gradient = 0 : i64}) {
  %w = fad.opaque "wide" contraction time 270 (%x) : (tensor<2xf32>) -> tensor<100xf32>
  %n1 = fad.opaque "narrow" contraction time 100 (%x) : (tensor<2xf32>) -> tensor<25xf32>
  %n2 = fad.opaque "narrow" contraction time 101 (%x) : (tensor<2xf32>) -> tensor<25xf32>
  %n3 = fad.opaque "narrow" contraction time 102 (%x) : (tensor<2xf32>) -> tensor<25xf32>
  %y = fad.opaque "apply" keep (%w, %n1, %n2, %n3) : (tensor<100xf32>, tensor<25xf32>, tensor<25xf32>, tensor<25xf32>) -> tensor<2xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<2xf32>) -> tensor<1000xf32>
  %u = fad.opaque "gather" keep (%t) : (tensor<1000xf32>) -> tensor<2xf32>
  %g4 = fad.opaque "adjoint" keep (%u, %w) : (tensor<2xf32>, tensor<100xf32>) -> tensor<2xf32>
  %g3 = fad.opaque "adjoint" keep (%g4, %n3) : (tensor<2xf32>, tensor<25xf32>) -> tensor<2xf32>
  %g2 = fad.opaque "adjoint" keep (%g3, %n2) : (tensor<2xf32>, tensor<25xf32>) -> tensor<2xf32>
  %g1 = fad.opaque "adjoint" keep (%g2, %n1) : (tensor<2xf32>, tensor<25xf32>) -> tensor<2xf32>
  return %y, %g1 : tensor<2xf32>, tensor<2xf32>
}
