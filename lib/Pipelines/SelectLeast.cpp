//===- SelectLeast.cpp - The least residuals of several joint functions ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/Passes.h"
#include "fad/Transforms/Explanation.h"
#include "fad/Transforms/JointFunction.h"
#include "fad/Transforms/ResidualSelection.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTLEAST
#include "fad/Pipelines/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The policies whose joint functions there are: `recompute` has that of `fad`.
static constexpr Policy kJoints[] = {Policy::automatic, Policy::fad,
                                     Policy::bp};

namespace {
struct FadSelectLeastPass : fad::impl::FadSelectLeastBase<FadSelectLeastPass> {
  using FadSelectLeastBase::FadSelectLeastBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    for (Policy policy : kJoints)
      buildPipeline(policy).getDependentDialects(registry);
    createFadSelectResiduals()->getDependentDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findEntry(getOperation(), entry);
    if (failed(function) ||
        failed(selectLeast((function->getSymName() + "_joint").str())))
      signalPassFailure();
  }

private:
  OpPassManager buildPipeline(Policy policy) const {
    FadDifferentiateOptions options;
    options.entry = entry;
    options.wrt.assign(wrt.begin(), wrt.end());
    options.results.assign(results.begin(), results.end());
    OpPassManager pm(ModuleOp::getOperationName());
    addJoint(pm, policy, std::move(options));
    return pm;
  }

  /// Replaces the module by the copy of it in which `joint` keeps the least.
  LogicalResult selectLeast(StringRef joint);
  /// Makes `joint` in `copy` the joint function of `policy`, and selects the
  /// residuals of all joint functions. Returns the bytes that `joint` keeps.
  FailureOr<int64_t> select(ModuleOp copy, StringRef joint, Policy policy);

  FadSelectResidualsOptions getSelection() const {
    return {Policy::automatic, recompute,  assumedSize,
            derivativeBits,    branchBits, residualBudget};
  }
};
} // namespace

FailureOr<int64_t> FadSelectLeastPass::select(ModuleOp copy, StringRef joint,
                                              Policy policy) {
  OpPassManager pm = buildPipeline(policy);
  if (failed(runPipeline(pm, copy)))
    return failure();
  for (auto function : copy.getOps<func::FuncOp>())
    if (JointFunction::isJoint(function) &&
        failed(selectResiduals(function, getSelection())))
      return failure();
  return countKeptBytes(copy.lookupSymbol<func::FuncOp>(joint), assumedSize);
}

LogicalResult FadSelectLeastPass::selectLeast(StringRef joint) {
  ModuleOp module = getOperation();
  OwningOpRef<ModuleOp> original = module.clone(), least;
  int64_t leastBytes = 0;
  for (Policy policy : kJoints) {
    if (least && leastBytes <= residualBudget)
      break;
    // Pipelines take what is within the operation that a pass is run on.
    ModuleOp copy = original->clone();
    module.push_back(copy);
    FailureOr<int64_t> bytes = select(copy, joint, policy);
    copy->remove();
    OwningOpRef<ModuleOp> owned(copy);
    if (failed(bytes))
      return failure();
    if (least && leastBytes <= *bytes)
      continue;
    least = std::move(owned);
    leastBytes = *bytes;
  }
  module.getBodyRegion().takeBody(least->getBodyRegion());
  module->setAttrs((*least)->getAttrDictionary());
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!JointFunction::isJoint(function))
      continue;
    if (failed(checkBudget(function, getSelection(),
                           countKeptBytes(function, assumedSize))))
      return failure();
    emitRemarks(function, {Policy::automatic, recompute, assumedSize});
  }
  return success();
}
