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
/// A program with one way of differentiating it.
struct Program {
  RegionForm regions;
  struct Way {
    DerivativeForm form;
    ArrayRef<Policy> rules;
  };
  SmallVector<Way, 2> ways;
};
} // namespace

static constexpr Policy kOperandRules[] = {Policy::fad, Policy::recompute};
static constexpr Policy kTapeRules[] = {Policy::bp};

/// The one that must succeed is the first.
static SmallVector<Program> getPrograms() {
  return {{RegionForm::activations,
           {{DerivativeForm::both, {}},
            {DerivativeForm::operands, kOperandRules}}},
          {RegionForm::tape, {{DerivativeForm::results, kTapeRules}}},
          {RegionForm::none, {{DerivativeForm::results, {}}}}};
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
  if (auto remark = remark::missed(loc, remark::RemarkOpts::name("LeftOut")
                                            .category("fad-residuals")))
    remark << remark::detail::Remark::Arg("Because", reason);
  isHolding = true;
}

static bool areEqual(ModuleOp a, ModuleOp b) {
  return OperationEquivalence::isEquivalentTo(
      a, b, OperationEquivalence::IgnoreLocations);
}

LogicalResult
fad::forEachJoint(ModuleOp module, const FadDifferentiateOptions &options,
                  PipelineRunner run,
                  llvm::function_ref<FailureOr<bool>(JointCandidate)> take) {
  bool isFirst = true;
  HeldDiagnostics diagnostics(module.getContext());
  auto runPasses = [&](ModuleOp copy,
                       llvm::function_ref<void(OpPassManager &)> add) {
    OpPassManager pm(ModuleOp::getOperationName());
    add(pm);
    return run(pm, copy);
  };
  auto tryWay = [&](ModuleOp copy,
                    const Program::Way &way) -> FailureOr<bool> {
    JointCandidate candidate = {copy.clone(), way.rules};
    FadDifferentiateOptions differentiate = options;
    differentiate.leaveJoint = true;
    differentiate.derivativesFrom = way.form;
    if (failed(runPasses(*candidate.module, [&](OpPassManager &pm) {
          pm.addPass(createFadDifferentiate(differentiate));
        })))
      return failure();
    return take(std::move(candidate));
  };
  OwningOpRef<ModuleOp> tape;
  for (const Program &program : getPrograms()) {
    OwningOpRef<ModuleOp> copy = module.clone();
    if (failed(runPasses(*copy, [&](OpPassManager &pm) {
          addRegions(pm, program.regions);
        }))) {
      if (isFirst)
        return failure();
      diagnostics.leaveOut();
      continue;
    }
    // Simplification may change nothing.
    if (tape && areEqual(*tape, *copy))
      continue;
    for (const Program::Way &way : program.ways) {
      FailureOr<bool> goesOn = tryWay(*copy, way);
      if (failed(goesOn) && isFirst)
        return failure();
      if (failed(goesOn))
        diagnostics.leaveOut();
      else if (!*goesOn)
        return success();
      isFirst = false;
      diagnostics.begin();
    }
    if (program.regions == RegionForm::tape)
      tape = std::move(copy);
  }
  return success();
}
