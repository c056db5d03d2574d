// A budget for the peak: the estimate has backward repeat a segment immediately before
// the operations that need it, as fad-shorten-lifetimes does, so that only one segment is
// alive at a time.

// RUN: fad-opt %s --fad-select-residuals="recompute=contractions peak-budget=2KB" | FileCheck %s --check-prefixes=ALL,EMPTY
// RUN: fad-opt %s --fad-select-residuals="recompute=contractions peak-budget=640" | FileCheck %s --check-prefix=SEGMENTS
// RUN: not fad-opt %s --fad-select-residuals="recompute=contractions peak-budget=1" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not fad-opt %s --fad-select-residuals="residual-budget=1 peak-budget=1" 2>&1 | FileCheck %s --check-prefix=BOTH

// ERROR: residuals-peak.mlir:[[#@LINE+14]]:1: error: no choice of residuals keeps forward and backward within 1 bytes: the lowest peak is 640 bytes with recompute=contractions; raise the budget, or let backward compute more again
// BOTH:  residuals-peak.mlir:[[#@LINE+13]]:1: error: residual-budget and peak-budget are alternatives; give one of them

// The whole of forward is saved where it fits.

// ALL-LABEL:      func @chain(
// ALL-COUNT-5:    fad.residual %{{.*}} needed_by []
// ALL-NOT:        fad.opaque "layer{{.*}} contraction

// Else some layers are computed again.

// SEGMENTS-LABEL:   func @chain(
// SEGMENTS:         fad.opaque "layer6" contraction
// SEGMENTS:         fad.opaque "layer{{[1-5]}}" contraction
func.func @chain(%x: tensor<32xf32>, %g: tensor<32xf32> {fad.cotangent = 0 : i64})
    -> (tensor<32xf32>, tensor<32xf32> {fad.gradient = 0 : i64}) {
  %1 = fad.opaque "layer1" contraction time 9 (%x) : (tensor<32xf32>) -> tensor<32xf32>
  %2 = fad.opaque "layer2" contraction time 9 (%1) : (tensor<32xf32>) -> tensor<32xf32>
  %3 = fad.opaque "layer3" contraction time 9 (%2) : (tensor<32xf32>) -> tensor<32xf32>
  %4 = fad.opaque "layer4" contraction time 9 (%3) : (tensor<32xf32>) -> tensor<32xf32>
  %5 = fad.opaque "layer5" contraction time 9 (%4) : (tensor<32xf32>) -> tensor<32xf32>
  %6 = fad.opaque "layer6" contraction time 9 (%5) : (tensor<32xf32>) -> tensor<32xf32>
  %g6 = fad.opaque "adjoint6" keep (%g, %5) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %g5 = fad.opaque "adjoint5" keep (%g6, %4) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %g4 = fad.opaque "adjoint4" keep (%g5, %3) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %g3 = fad.opaque "adjoint3" keep (%g4, %2) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %g2 = fad.opaque "adjoint2" keep (%g3, %1) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %g1 = fad.opaque "adjoint1" keep (%g2, %x) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %6, %g1 : tensor<32xf32>, tensor<32xf32>
}

// Without backward operations, the gradient is the cotangent: 8 bytes, and the argument
// that is a result takes none.

// EMPTY-LABEL: func @straight(
// EMPTY-NEXT:    return
func.func @straight(%x: tensor<2xf32>, %g: tensor<2xf32> {fad.cotangent = 0 : i64})
    -> (tensor<2xf32>, tensor<2xf32> {fad.gradient = 0 : i64}) {
  return %x, %g : tensor<2xf32>, tensor<2xf32>
}
