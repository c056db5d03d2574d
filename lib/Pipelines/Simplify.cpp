//===- Simplify.cpp - Canonicalization and CSE ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSIMPLIFY
#include "fad/Pipelines/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;

namespace {
struct FadSimplifyPass : fad::impl::FadSimplifyBase<FadSimplifyPass> {
  using FadSimplifyBase::FadSimplifyBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    return success();
  }

  void runOnOperation() override {
    bool changed = mergeFirst && merge();
    changed |= canonicalize();
    changed |= merge();
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  bool canonicalize() {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal()
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
        .setMaxIterations(1);
    bool changed = false;
    // Whether this is a fixpoint does not matter.
    (void)applyPatternsGreedily(getOperation(), patterns, config, &changed);
    return changed;
  }

  bool merge() {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    bool changed = false;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation(),
                                  &changed);
    return changed;
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
