//===- InlineCalls.cpp - Inlining of calls and global state ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/Passes.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MLProgram/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADINLINECALLS
#include "fad/Pipelines/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;

/// Whether inlining may find anything in `module` to inline or to erase.
static bool hasWork(ModuleOp module) {
  return module
      .walk([&](Operation *op) {
        auto symbol = dyn_cast<SymbolOpInterface>(op);
        return WalkResult(
            failure(isa<CallOpInterface, ml_program::GlobalOp>(op) ||
                    (symbol && op != module && symbol.isPrivate())));
      })
      .wasInterrupted();
}

namespace {
struct FadInlineCallsPass : fad::impl::FadInlineCallsBase<FadInlineCallsPass> {
  void runOnOperation() override {
    if (!hasWork(getOperation()))
      return markAllAnalysesPreserved();
    OpPassManager pm(ModuleOp::getOperationName());
    // Inlining does not simplify the inlined operations.
    pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    pm.addPass(ml_program::createMLProgramPipelineGlobalsPass());
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
