// RUN: fad-opt %s --fad-select-residuals="policy=fad recompute=nothing" -verify-diagnostics
// RUN: not fad-opt %s --fad-select-residuals="policy=bp derivative-bits=3" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not fad-opt %s --fad-select-residuals="policy=recompute derivative-from-output" 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not fad-opt %s --fad-select-residuals="policy=fad residual-budget=8" 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: fad-opt %s --fad-select-residuals="policy=fad recompute=elementwise derivative-bits=0" | FileCheck %s
// RUN: fad-opt %s --fad-select-residuals="recompute=nothing derivative-bits=3 derivative-from-output residual-budget=8" | FileCheck %s

// Options of the policy auto do not go with another one, unless they say what is so
// anyway.

// BITS: policy-invalid.mlir:[[#@LINE+5]]:1: error: derivative-bits is for the policy auto, but the policy is bp
// BRANCH: policy-invalid.mlir:[[#@LINE+4]]:1: error: derivative-from-output is for the policy auto, but the policy is recompute
// BUDGET: policy-invalid.mlir:[[#@LINE+3]]:1: error: a residual-budget is for the policy auto, but the policy is fad
// CHECK: fad.residual
// expected-error @+1 {{recompute=nothing is for the policy auto, but the policy is fad}}
func.func @joint(%x: tensor<?xf32>, %g: tensor<?xf32> {fad.cotangent = 0 : i64})
    -> (tensor<?xf32>, tensor<?xf32> {fad.gradient = 0 : i64}) {
  %y = arith.mulf %x, %x : tensor<?xf32>
  %d = arith.mulf %x, %g : tensor<?xf32>
  return %y, %d : tensor<?xf32>, tensor<?xf32>
}
