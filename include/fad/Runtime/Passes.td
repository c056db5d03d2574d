//===- Passes.td - Passes of the gradient checker ----------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_PASSES_TD
#define FAD_RUNTIME_PASSES_TD

include "fad/Analysis/OptionPass.td"

def FadPromote : FadPass<"fad-promote", "::mlir::ModuleOp"> {
  let summary = "Compute in f64";
  let description = [{
    Replaces every floating-point type of the module by f64, constants
    included: the reference that `fad-runner --check-gradients` takes finite
    differences of. `arith.extf` and `arith.truncf` become no-ops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // FAD_RUNTIME_PASSES_TD
