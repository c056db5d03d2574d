//===- Passes.td - Passes that run pipelines ---------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_PASSES_TD
#define FAD_PIPELINES_PASSES_TD

include "fad/Analysis/OptionPass.td"
include "fad/Transforms/SelectionOptions.td"

def FadSelectLeast : FadPass<"fad-select-least", "::mlir::ModuleOp"> {
  let summary = "Differentiate a function and select its residuals";
  let description = !strconcat([{
    The part of `fad-nest` that partitions a function, differentiates it and selects
    residuals. It has the options of `fad-select-residuals`. The policies `fad` and
    `recompute` differentiate elementwise regions from their operands, and `bp` the
    operations that a tape sees.

    The policy `auto` works on several copies of the module: one with derivatives in
    all their forms, among which are those of `fad` and `recompute`, one with the
    derivatives of `bp`, and one of plain reverse mode, without regions. The copy that
    keeps the fewest bytes stays, or with a `residual-budget` the first copy within it.
    So `auto` keeps no more than another policy does. A copy other than the first that
    cannot be differentiated is left out; an optimization remark, `LeftOut` of the
    category `fad-residuals`, has the reason. With a `peak-budget`, the first copy
    alone is tried.
  }], selectionOptions);
  let options = requestOptions;
  let statistics = [
    Statistic<"numCandidates", "num-candidates", "Copies of the module whose residuals were selected">,
    Statistic<"keptBytes", "kept-bytes", "Bytes that cross to backward">
  ];
}

def FadInlineCalls : FadPass<"fad-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline calls and global state";
  let description = [{
    Inlines all calls, without simplifying their bodies, and makes the state
    of `ml_program.global` an SSA value, so that backward computes all seeds of a
    generator from one. Functions that nobody can call are erased. Nothing happens to
    a module that has no calls, globals and private functions.
  }];
}

def FadSimplify : FadPass<"fad-simplify"> {
  let summary = "Canonicalize, and merge equal operations";
  let description = [{
    One sweep of canonicalization, which revisits changed operations, and CSE. Control
    flow is not simplified: functions here are one block. One pass is verified once,
    and the verifier takes longer than CSE.
  }];
  let options = [
    Option<"mergeFirst", "merge-first", "FAD_OPTION(bool)", /*default=*/"false",
           "Merge equal operations before canonicalization, too">
  ];
}

#endif // FAD_PIPELINES_PASSES_TD
