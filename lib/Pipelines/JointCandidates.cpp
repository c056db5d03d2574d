//===- JointCandidates.cpp - Joint functions for the policy auto ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointCandidates.h"
#include "Stages.h"
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

static bool areEqual(ModuleOp a, ModuleOp b) {
  return OperationEquivalence::isEquivalentTo(
      a, b, OperationEquivalence::IgnoreLocations);
}

LogicalResult fad::forEachJoint(ModuleOp module,
                                const FadDifferentiateOptions &options,
                                PipelineRunner run,
                                llvm::function_ref<bool(JointCandidate)> take) {
  bool isFirst = true;
  // Other threads may be busy with another module.
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &) {
    return success(!isFirst && llvm::get_threadid() == thread);
  });
  auto runPasses = [&](ModuleOp copy,
                       llvm::function_ref<void(OpPassManager &)> add) {
    OpPassManager pm(ModuleOp::getOperationName());
    add(pm);
    return run(pm, copy);
  };
  OwningOpRef<ModuleOp> tape;
  for (const Program &program : getPrograms()) {
    OwningOpRef<ModuleOp> copy = module.clone();
    if (failed(runPasses(*copy, [&](OpPassManager &pm) {
          addRegions(pm, program.regions);
        }))) {
      if (isFirst)
        return failure();
      continue;
    }
    // Simplification may change nothing.
    if (tape && areEqual(*tape, *copy))
      continue;
    for (const Program::Way &way : program.ways) {
      JointCandidate candidate = {copy->clone(), way.rules};
      FadDifferentiateOptions differentiate = options;
      differentiate.leaveJoint = true;
      differentiate.derivativesFrom = way.form;
      LogicalResult made =
          runPasses(*candidate.module, [&](OpPassManager &pm) {
            pm.addPass(createFadDifferentiate(differentiate));
          });
      if (failed(made) && isFirst)
        return failure();
      bool goesOn = failed(made) || take(std::move(candidate));
      isFirst = false;
      if (!goesOn)
        return success();
    }
    if (program.regions == RegionForm::tape)
      tape = std::move(copy);
  }
  return success();
}
