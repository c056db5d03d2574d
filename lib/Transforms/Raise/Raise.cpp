//===- Raise.cpp - Recognize spelled-out activations ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADRAISE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

template <typename... OpTys>
static void addActivations(RewritePatternSet &patterns) {
  auto add = [&](StringRef name, ArrayRef<raise::Spelling> spellings) {
    for (const raise::Spelling &spelling : spellings)
      raise::addRaisePattern(patterns, name, spelling);
  };
  (add(OpTys::getOperationName(), OpTys::getSpellings()), ...);
}

void fad::populateRaisePatterns(RewritePatternSet &patterns) {
  addActivations<
#define GET_OP_LIST
#include "fad/IR/Activations.cpp.inc"
      >(patterns);
  raise::addRaisePattern(patterns, math::ExpM1Op::getOperationName(),
                         {{exp(raise::variable()) - 1}, raise::Shared::kept});
  raise::populateFoldTruncPatterns(patterns);
}

namespace {
struct FadRaise : public fad::impl::FadRaiseBase<FadRaise> {
  using FadRaiseBase::FadRaiseBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet patterns(context);
    populateRaisePatterns(patterns);
    activations = std::move(patterns);

    RewritePatternSet linalgPatterns(context);
    raise::populateRaiseLinalgPatterns(linalgPatterns);
    linalg = std::move(linalgPatterns);

    RewritePatternSet allPatterns(context);
    populateRaisePatterns(allPatterns);
    raise::populateRaiseLinalgPatterns(allPatterns);
    all = std::move(allPatterns);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal().setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    // Stopping before a fixpoint would leave a right program, with a form that
    // is not recognized.
    bool changed = false;
    auto apply = [&](const FrozenRewritePatternSet &patterns) {
      bool changedNow = false;
      (void)applyPatternsGreedily(getOperation(), patterns, config,
                                  &changedNow);
      changed |= changedNow;
    };
    bool hasEncodings = hasEncodedTensors();
    // Chains on whole tensors are matched before each of their operations
    // becomes a linalg.generic, or, on request, not at all.
    if (!withinOperations)
      apply(activations);
    else if (!hasEncodings)
      apply(linalg);
    // Upstream's patterns on linalg lose the encoding of a tensor.
    if (!hasEncodings)
      apply(all);
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  bool hasEncodedTensors() {
    auto isEncoded = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getEncoding();
    };
    return getOperation()
        ->walk([&](Operation *op) {
          return WalkResult(
              failure(llvm::any_of(op->getResultTypes(), isEncoded) ||
                      llvm::any_of(op->getOperandTypes(), isEncoded)));
        })
        .wasInterrupted();
  }

  FrozenRewritePatternSet activations;
  FrozenRewritePatternSet linalg;
  FrozenRewritePatternSet all;
};
} // namespace
