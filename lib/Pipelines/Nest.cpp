//===- Nest.cpp - The fad-nest pipeline -----------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "fad/Pipelines/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fad;

/// The numbers of a list option.
template <typename List> static SmallVector<int64_t> copy(const List &list) {
  return SmallVector<int64_t>(list.begin(), list.end());
}

void fad::addImport(OpPassManager &pm, const NestOptions &options) {
  pm.addPass(createFadCheckSizes());
  pm.addPass(createFadCheckInits());
  // Functions of another frontend have the attributes, or get them here.
  pm.addPass(createFadMarkJoint(
      {options.entry, copy(options.cotangents), copy(options.gradients),
       copy(options.cotangentsOf), copy(options.gradientsOf)}));
  pm.addPass(createFadMakePublic({options.entry}));
  pm.addPass(createFadCheckCalls());
  pm.addPass(createFadInlineCalls());
  pm.addNestedPass<func::FuncOp>(createFadSimplifySlices());
  pm.addNestedPass<func::FuncOp>(createFadNormalize());
}

void fad::addRegions(OpPassManager &pm, RegionForm form) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  bool tape = form != RegionForm::activations;
  // Activations get their name. A tape sees a chain of several operations as
  // it was written.
  FadRaiseOptions raise;
  raise.withinOperations = tape;
  function.addPass(createFadRaise(raise));
  // Equal operations are parts of one chain, not of two; a tape holds both.
  if (form != RegionForm::tape)
    function.addPass(createFadSimplify());
  if (form == RegionForm::none)
    return;
  function.addPass(createFadPartition());
  // Chains of operations are in one body now.
  if (!tape)
    function.addPass(createFadRaise());
  function.addPass(createFadSimplify());
  // Canonicalization finds sizes that are 0.
  function.addPass(createFadSimplifySlices());
  function.addPass(createFadExtractCoefficients());
}

void fad::buildPartitionPipeline(OpPassManager &pm,
                                 const NestOptions &options) {
  addImport(pm, options);
  addRegions(pm, RegionForm::activations);
}

void fad::buildSelectPipeline(OpPassManager &pm, const NestOptions &options) {
  addImport(pm, options);
  pm.addPass(createFadSelectLeast(
      {options.entry, copy(options.wrt), copy(options.results)},
      options.getSelection()));
}

void fad::buildSplitPipeline(OpPassManager &pm, bool reuseResiduals) {
  pm.addPass(createFadSplit({reuseResiduals}));
  // This order makes fusible operations neighbors.
  pm.addNestedPass<func::FuncOp>(createFadShortenLifetimes());
  // Value and derivative in one kernel; multiply and accumulate in one.
  pm.addNestedPass<func::FuncOp>(createFadFuse());
  // Operands that are found to be equal become one in canonicalization.
  pm.addNestedPass<func::FuncOp>(createFadSimplify({/*mergeFirst=*/true}));
  pm.addPass(createFadRematerialize());
}

void fad::buildNestPipeline(OpPassManager &pm, const NestOptions &options) {
  buildSelectPipeline(pm, options);
  buildSplitPipeline(pm, options.reuseResiduals);
}
