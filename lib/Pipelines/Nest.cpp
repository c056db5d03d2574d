//===- Nest.cpp - The fad-nest pipeline, and what it makes ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/NestedPair.h"
#include "fad/Pipelines/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Pipelines/Stages.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The pair of functions
//===----------------------------------------------------------------------===//

static SmallVector<NestedPair::Residual> getResiduals(func::FuncOp joint) {
  SmallVector<NestedPair::Residual> residuals;
  for (auto op : joint.front().getOps<ResidualOp>()) {
    NestedPair::Residual &residual = residuals.emplace_back();
    residual.reason = op.getReason().str();
    for (StringRef name : op.getNeededBy().getAsValueRange<StringAttr>())
      residual.neededBy.push_back(name.str());
  }
  return residuals;
}

FailureOr<func::FuncOp> fad::createJoint(ModuleOp module,
                                         const NestOptions &options) {
  FailureOr<func::FuncOp> entry = findEntry(module, options.entry);
  if (failed(entry))
    return failure();
  std::string name = entry->getSymName().str();
  PassManager pm(module.getContext());
  buildSelectPipeline(pm, options);
  if (failed(pm.run(module)))
    return failure();
  return findJoint(module, name);
}

FailureOr<NestedPair> NestedPair::split(func::FuncOp joint,
                                        bool reuseResiduals) {
  auto module = joint->getParentOfType<ModuleOp>();
  std::string name = getNameOfJoint(joint.getSymName()).str();
  NestedPair pair;
  pair.residuals = getResiduals(joint);
  PassManager pm(module.getContext());
  buildSplitPipeline(pm, reuseResiduals);
  if (failed(pm.run(module)))
    return failure();
  pair.forward = findForward(module, name);
  pair.backward = *findPullback(pair.forward);
  return pair;
}

FailureOr<NestedPair> NestedPair::create(ModuleOp module,
                                         const NestOptions &options) {
  FailureOr<func::FuncOp> joint = createJoint(module, options);
  if (failed(joint))
    return failure();
  return split(*joint, options.reuseResiduals);
}

static unsigned getNumber(Attribute attribute) {
  return cast<IntegerAttr>(attribute).getInt();
}

SmallVector<unsigned> NestedPair::getCotangentResults() {
  SmallVector<unsigned> numbers;
  for (unsigned i = residuals.size(), end = backward.getNumArguments(); i < end;
       ++i)
    numbers.push_back(
        getNumber(backward.getArgAttr(i, FadDialect::kCotangentAttr)));
  return numbers;
}

SmallVector<unsigned> NestedPair::getGradientArguments() {
  SmallVector<unsigned> numbers;
  for (unsigned i = 0, end = backward.getNumResults(); i < end; ++i)
    numbers.push_back(
        getNumber(backward.getResultAttr(i, FadDialect::kGradientAttr)));
  return numbers;
}
