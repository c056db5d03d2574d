//===- Simplify.cpp - Canonicalization and CSE ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "fad/Pipelines/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSIMPLIFY
#include "fad/Pipelines/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

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
  /// Simplifies the bodies of elementwise operations without these. The driver
  /// visits an operation again after each change in its regions, and a visit of
  /// one that reads many tensors is long.
  bool canonicalizeBodies(GreedyRewriteConfig config) {
    SmallVector<Operation *> inner;
    getOperation()->walk([&](ElementwiseOp op) {
      for (Operation &nested : op.getBodyBlock()->without_terminator())
        inner.push_back(&nested);
    });
    bool changed = false;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    (void)applyOpPatternsGreedily(inner, patterns, config, &changed);
    return changed;
  }

  bool canonicalize() {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal()
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
        .setMaxIterations(1);
    // Whether these are fixpoints does not matter.
    bool inBodies = canonicalizeBodies(config), changed = false;
    (void)applyPatternsGreedily(getOperation(), patterns, config, &changed);
    return changed || inBodies;
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
