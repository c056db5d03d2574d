//===- SelectLeast.cpp - The least residuals of several joint functions ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointCandidates.h"
#include "Stages.h"
#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/Passes.h"
#include "fad/Transforms/Residuals/Explanation.h"
#include "fad/Transforms/Residuals/ResidualSelection.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTLEAST
#include "fad/Pipelines/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct FadSelectLeastPass
    : WithSelectionOptions<fad::impl::FadSelectLeastBase<FadSelectLeastPass>> {
  FadSelectLeastPass() = default;
  FadSelectLeastPass(FadSelectLeastOptions request,
                     const SelectionOptions &selection = {})
      : WithSelectionOptions(std::move(request)) {
    setSelection(selection);
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(ModuleOp::getOperationName());
    addRegions(pm, RegionForm::activations);
    pm.addPass(createFadDifferentiate());
    pm.addNestedPass<func::FuncOp>(createFadSelectResiduals());
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findEntry(getOperation(), entry);
    if (failed(function) || failed(selectLeast(function->getSymName().str())))
      signalPassFailure();
  }

private:
  /// Replaces the module by the copy of it in which the joint function of
  /// `@name` keeps the least.
  LogicalResult selectLeast(StringRef name);
  /// Selects the residuals of all joint functions of `candidate`. Returns the
  /// bytes that the one of `@name` keeps.
  FailureOr<int64_t> select(const JointCandidate &candidate, StringRef name);

  FadDifferentiateOptions getDifferentiation() const {
    FadDifferentiateOptions options;
    options.entry = entry;
    options.wrt.assign(wrt.begin(), wrt.end());
    options.results.assign(results.begin(), results.end());
    return options;
  }
};
} // namespace

FailureOr<int64_t> FadSelectLeastPass::select(const JointCandidate &candidate,
                                              StringRef name) {
  ModuleOp module = *candidate.module;
  for (auto function : module.getOps<func::FuncOp>())
    if (JointFunction::isJoint(function)) {
      FailureOr<PeakEstimates> peaks =
          selectResiduals(function, getSelection(), candidate.rules);
      if (failed(peaks) ||
          failed(checkPeakBudget(function, getSelection(), peaks->chosen)))
        return failure();
    }
  return countKeptBytes(findJoint(module, name), assumedSize);
}

LogicalResult FadSelectLeastPass::selectLeast(StringRef name) {
  ModuleOp module = getOperation();
  OwningOpRef<ModuleOp> least;
  int64_t leastBytes = 0;
  // A pass may run pipelines only on operations inside of its own.
  auto run = [&](OpPassManager &pm, ModuleOp copy) {
    module.push_back(copy);
    LogicalResult result = runPipeline(pm, copy);
    copy->remove();
    return result;
  };
  auto take = [&](JointCandidate candidate) -> FailureOr<bool> {
    FailureOr<int64_t> bytes = select(candidate, name);
    if (failed(bytes))
      return failure();
    if (!least || *bytes < leastBytes) {
      least = std::move(candidate.module);
      leastBytes = *bytes;
    }
    // A peak decides within one candidate only.
    return peakBudget < 0 && leastBytes > std::max<int64_t>(0, residualBudget);
  };
  if (failed(forEachJoint(module, getDifferentiation(), policy, run, take)))
    return failure();
  module.getBodyRegion().takeBody(least->getBodyRegion());
  module->setAttrs((*least)->getAttrDictionary());
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!JointFunction::isJoint(function))
      continue;
    if (failed(checkResidualBudget(function, getSelection(),
                                   countKeptBytes(function, assumedSize))))
      return failure();
    emitRemarks(function, getSelection());
  }
  return success();
}

std::unique_ptr<Pass>
fad::createFadSelectLeast(FadSelectLeastOptions request,
                          const SelectionOptions &selection) {
  return std::make_unique<FadSelectLeastPass>(std::move(request), selection);
}
