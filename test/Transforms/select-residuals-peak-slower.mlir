// Where two selections are far apart, parts change over from the slower one, too. Beside a temporary of
// 4,000 bytes are the result and its reduction, of 8 each. There, %a takes 100 bytes, %b 300 and
// %c 400, and the time of a byte grows from %a to %c: cuts compute %a again, then %b with it, then
// all. %a and %c without %b are computed again where %b changes over from the slowest, though all
// of them read %x, which the fastest does not read.

// DEFINE: %{within} = fad-opt %s --fad-select-residuals="recompute=contractions peak-budget
// RUN: %{within}=4415" | FileCheck %s --check-prefix=SLOWER
// RUN: %{within}=4416" | FileCheck %s --check-prefix=FASTER
// RUN: %{within}=4115" | FileCheck %s --check-prefix=ALL

// SLOWER:      fad.opaque "apply"
// SLOWER:      fad.opaque "c" contraction
// SLOWER-NEXT: fad.opaque "a" contraction
// SLOWER-NEXT: fad.opaque "spread"
// FASTER:      fad.opaque "apply"
// FASTER:      fad.opaque "b" contraction
// FASTER-NEXT: fad.opaque "a" contraction
// FASTER-NEXT: fad.opaque "spread"
// ALL:         fad.opaque "apply"
// ALL-COUNT-3: contraction
// ALL-NEXT:    fad.opaque "spread"
func.func @slower(%x: tensor<2xf32>, %g: tensor<2xf32> {fad.cotangent = 0 : i64})
    -> (tensor<2xf32>, tensor<2xf32> {fad.gradient = 0 : i64}) {
  %a = fad.opaque "a" contraction time 100000 (%x) : (tensor<2xf32>) -> tensor<25xf32>
  %b = fad.opaque "b" contraction time 330000 (%x) : (tensor<2xf32>) -> tensor<75xf32>
  %c = fad.opaque "c" contraction time 480000 (%x) : (tensor<2xf32>) -> tensor<100xf32>
  %y = fad.opaque "apply" keep (%a, %b, %c) : (tensor<25xf32>, tensor<75xf32>, tensor<100xf32>) -> tensor<2xf32>
  %t = fad.opaque "spread" keep (%g) : (tensor<2xf32>) -> tensor<1000xf32>
  %u = fad.opaque "gather" keep (%t) : (tensor<1000xf32>) -> tensor<2xf32>
  %g3 = fad.opaque "adjoint" keep (%u, %c) : (tensor<2xf32>, tensor<100xf32>) -> tensor<2xf32>
  %g2 = fad.opaque "adjoint" keep (%g3, %b) : (tensor<2xf32>, tensor<75xf32>) -> tensor<2xf32>
  %g1 = fad.opaque "adjoint" keep (%g2, %a) : (tensor<2xf32>, tensor<25xf32>) -> tensor<2xf32>
  return %y, %g1 : tensor<2xf32>, tensor<2xf32>
}
