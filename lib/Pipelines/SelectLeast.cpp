//===- SelectLeast.cpp - The least residuals of several joint functions ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection of residuals is the best one for one joint function, and a
// program has several, which hold different values. Each is made on a copy of
// the module, by the stages from raising to the selection in their order, and
// the copy that keeps the fewest bytes replaces the module. A rule has one
// joint function. The policy auto has up to three: that of elementwise regions
// with their derivatives in all forms, that of a tape, and that of plain
// reverse mode without regions. With a budget for residuals, the first copy
// within it stays.
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/Analysis/Remarks.h"
#include "fad/Pipelines/Passes.h"
#include "fad/Pipelines/Stages.h"
#include "fad/Transforms/Residuals/Explanation/Explanation.h"
#include "fad/Transforms/Residuals/Selection/ResidualSelection.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/Threading.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTLEAST
#include "fad/Pipelines/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-select-least"

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
/// A form of the program, the forms of its derivatives, and the policies whose
/// rule applies.
struct JointForm {
  RegionForm regions;
  DerivativeForm derivatives;
  ArrayRef<Policy> rules;
};
} // namespace

/// The forms that `policy` selects from. The first must succeed.
static SmallVector<JointForm> getForms(Policy policy) {
  static constexpr Policy tapeRules[] = {Policy::bp};
  // A tape keeps results if they determine a derivative.
  JointForm tape = {RegionForm::tape, DerivativeForm::results, tapeRules};
  if (policy == Policy::bp)
    return {tape};
  if (policy != Policy::automatic)
    return {{RegionForm::activations, DerivativeForm::operands, {}}};
  return {{RegionForm::activations, DerivativeForm::both, {}},
          tape,
          {RegionForm::none, DerivativeForm::results, {}}};
}

/// The name of `form` in debug output.
[[maybe_unused]] static StringRef stringify(RegionForm form) {
  switch (form) {
  case RegionForm::activations:
    return "activations";
  case RegionForm::tape:
    return "a tape";
  case RegionForm::none:
    return "no regions";
  }
  llvm_unreachable("unknown form of regions");
}

namespace {
/// Holds back errors of candidates that may be left out.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(MLIRContext *context)
      : handler(context, [this](Diagnostic &it) { return hold(it); }) {}

  void begin() { isHolding = true; }
  /// Says in a remark why a candidate is left out.
  void leaveOut();

private:
  LogicalResult hold(Diagnostic &diagnostic) {
    // Other threads may be busy with another module.
    if (!isHolding || llvm::get_threadid() != thread)
      return failure();
    if (!error && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      error.emplace(diagnostic.getLocation(), diagnostic.str());
    return success();
  }

  bool isHolding = false;
  uint64_t thread = llvm::get_threadid();
  std::optional<std::pair<Location, std::string>> error;
  ScopedDiagnosticHandler handler;
};
} // namespace

void HeldDiagnostics::leaveOut() {
  if (!error)
    return;
  auto [loc, reason] = *std::exchange(error, std::nullopt);
  // A remark may be printed as a diagnostic.
  isHolding = false;
  auto lock = lockRemarks();
  if (auto remark = remark::missed(
          loc, remark::RemarkOpts::name("LeftOut").category("fad-residuals")))
    remark << remark::detail::Remark::Arg("Because", reason);
  isHolding = true;
}

LogicalResult fad::forEachCandidate(
    ModuleOp module, const FadDifferentiateOptions &options, Policy policy,
    PipelineRunner run,
    llvm::function_ref<FailureOr<bool>(JointCandidate)> take) {
  bool isFirst = true;
  HeldDiagnostics diagnostics(module.getContext());
  for (const JointForm &form : getForms(policy)) {
    FadDifferentiateOptions differentiate = options;
    differentiate.derivativesFrom = form.derivatives;
    OpPassManager pm(ModuleOp::getOperationName());
    addRegions(pm, form.regions);
    pm.addPass(createFadDifferentiate(differentiate, /*leavesJoint=*/true));
    JointCandidate candidate = {module.clone(), form.regions, form.rules};
    FailureOr<bool> goesOn = failure();
    if (succeeded(run(pm, *candidate.module)))
      goesOn = take(std::move(candidate));
    if (failed(goesOn) && isFirst)
      return failure();
    if (failed(goesOn))
      diagnostics.leaveOut();
    else if (!*goesOn)
      return success();
    isFirst = false;
    diagnostics.begin();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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
};
} // namespace

LogicalResult FadSelectLeastPass::selectLeast(StringRef name) {
  ModuleOp module = getOperation();
  FadDifferentiateOptions options;
  options.entry = entry;
  options.wrt = llvm::to_vector(wrt);
  options.results = llvm::to_vector(results);
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
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addNestedPass<func::FuncOp>(
        createFadSelectResiduals(getSelection(), candidate.rules));
    if (failed(run(pm, *candidate.module)))
      return failure();
    int64_t bytes =
        countKeptBytes(findJoint(*candidate.module, name), assumedSize);
    ++numCandidates;
    LDBG() << "the candidate of " << stringify(candidate.regions) << " keeps "
           << bytes << " bytes";
    if (!least || bytes < leastBytes) {
      least = std::move(candidate.module);
      leastBytes = bytes;
    }
    // A peak decides within one candidate only.
    return peakBudget < 0 && leastBytes > std::max<int64_t>(0, residualBudget);
  };
  if (failed(forEachCandidate(module, options, policy, run, take)))
    return failure();
  module.getBodyRegion().takeBody(least->getBodyRegion());
  module->setAttrs((*least)->getAttrDictionary());
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!JointFunction::isJoint(function))
      continue;
    int64_t bytes = countKeptBytes(function, assumedSize);
    if (failed(checkResidualBudget(function, getSelection(), bytes)))
      return failure();
    keptBytes += bytes;
    emitRemarks(function, getSelection(), takeDecider(function));
  }
  return success();
}

std::unique_ptr<Pass>
fad::createFadSelectLeast(FadSelectLeastOptions request,
                          const SelectionOptions &selection) {
  return std::make_unique<FadSelectLeastPass>(std::move(request), selection);
}
