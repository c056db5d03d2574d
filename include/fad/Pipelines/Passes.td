//===- Passes.td - Passes that run pipelines ---------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_PASSES_TD
#define FAD_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def FadSelectLeast : Pass<"fad-select-least", "::mlir::ModuleOp"> {
  let summary = "Differentiate a function and select the fewest residual bytes";
  let description = [{
    The part of `fad-nest` under the policy `auto` that partitions a function,
    differentiates it and selects residuals. It works on several copies of the
    module: one with derivatives in all their forms, one as the policies `fad` and
    `recompute` have them, one with the operations that a tape sees, and one of plain
    reverse mode, without regions. The copy that keeps the fewest bytes
    stays, or with a `residual-budget` the first copy within it. So `auto` keeps no
    more than another policy does. A copy other than the first that cannot be
    differentiated is left out; an optimization remark, `LeftOut` of the category
    `fad-residuals`, has the reason.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "Function to differentiate; default: the only one with fad.request, or else "
           "the only public function with a body">,
    ListOption<"wrt", "wrt", "int64_t",
           "Arguments to differentiate with respect to; default: every floating-point tensor">,
    ListOption<"results", "results", "int64_t",
           "Results to differentiate, each of which gets a cotangent; default: every one of "
           "floating point">,
    Option<"recompute", "recompute", "::mlir::fad::RecomputeLevel",
           /*default=*/"::mlir::fad::RecomputeLevel::elementwise",
           "What backward may compute again",
           [{::mlir::fad::getRecomputeLevelValues()}]>,
    Option<"assumedSize", "assumed-size", "int64_t", /*default=*/"128",
           "What stands for a size that is known only when the program runs">,
    Option<"derivativeBits", "derivative-bits", "int64_t", /*default=*/"0",
           "Bits an element that bounded derivatives may be rounded to, 1 to 8; 0: "
           "derivatives are exact">,
    Option<"derivativeFromOutput", "derivative-from-output", "bool", /*default=*/"false",
           "Let the derivative of an activation with one minimum be computed approximately, "
           "from the result and one bit an element: the side of the minimum">,
    Option<"residualBudget", "residual-budget", "int64_t", /*default=*/"-1",
           "Bytes that residuals may take; -1: the fewest">
  ];
}

#endif // FAD_PIPELINES_PASSES_TD
