//===- JointCandidates.cpp - Joint functions for the policy auto ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointCandidates.h"
#include "Stages.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::fad;

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

namespace {
/// Holds back what is said of candidates that may be left out.
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
  if (auto remark = remark::missed(
          loc, remark::RemarkOpts::name("LeftOut").category("fad-residuals")))
    remark << remark::detail::Remark::Arg("Because", reason);
  isHolding = true;
}

LogicalResult
fad::forEachJoint(ModuleOp module, const FadDifferentiateOptions &options,
                  Policy policy, PipelineRunner run,
                  llvm::function_ref<FailureOr<bool>(JointCandidate)> take) {
  bool isFirst = true;
  HeldDiagnostics diagnostics(module.getContext());
  for (const JointForm &form : getForms(policy)) {
    FadDifferentiateOptions differentiate = options;
    differentiate.leaveJoint = true;
    differentiate.derivativesFrom = form.derivatives;
    OpPassManager pm(ModuleOp::getOperationName());
    addRegions(pm, form.regions);
    pm.addPass(createFadDifferentiate(differentiate));
    JointCandidate candidate = {module.clone(), form.rules};
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
