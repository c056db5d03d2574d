// A pass that changes nothing preserves all analyses: the dominance that the first CSE
// computed serves the last. Nothing is verified after such a pass, either.

// RUN: fad-opt %s --mlir-timing --mlir-timing-display=tree -o /dev/null 2>&1 \
// RUN:   --pass-pipeline="builtin.module(cse,fad-mark-joint,fad-make-public{entry=f},fad-inline-calls,fad-raise,fad-rematerialize,cse)" \
// RUN:   | FileCheck %s --check-prefix=MODULE
// RUN: fad-opt %s --mlir-timing --mlir-timing-display=tree -o /dev/null 2>&1 \
// RUN:   --pass-pipeline="builtin.module(func.func(cse,fad-simplify,fad-simplify-slices,fad-normalize,fad-extract-coefficients,fad-select-residuals,cse))" \
// RUN:   | FileCheck %s --check-prefix=FUNCTION

// MODULE:      CSE
// MODULE-NEXT: (A) DominanceInfo
// MODULE:      FadMarkJoint
// MODULE-NEXT: FadMakePublic
// MODULE-NEXT: FadInlineCalls
// MODULE-NEXT: FadRaise
// MODULE-NEXT: FadRematerialize
// MODULE-NEXT: CSE
// MODULE-NOT:  DominanceInfo

// FUNCTION:      CSE
// FUNCTION-NEXT: (A) DominanceInfo
// FUNCTION:      FadSimplify
// FUNCTION-NEXT: FadSimplifySlices
// FUNCTION-NEXT: FadNormalize
// FUNCTION-NEXT: FadExtractCoefficients
// FUNCTION-NEXT: FadSelectResiduals
// FUNCTION-NEXT: CSE
// FUNCTION-NOT:  DominanceInfo

func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %m : tensor<4x4xf32>
}
