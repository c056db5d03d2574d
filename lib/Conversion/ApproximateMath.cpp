//===- ApproximateMath.cpp - The pass fad-approximate-math ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArithmeticMath.h"
#include "fad/Conversion/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADAPPROXIMATEMATH
#include "fad/Conversion/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether the formula for `op` gives what `op` gives.
static bool isExact(Operation *op) {
  return isa<arith::MinimumFOp, arith::MaximumFOp>(op);
}

/// Lets ties go away from zero where bf16 is made of what is computed of `op`,
/// all of which ends there: that takes fewer operations than to find out what
/// is even, and whether there is a tie is less than the error of `op` already.
/// Leaves out what `visited` has.
static void roundTiesAway(Operation *op, DenseSet<Operation *> &visited) {
  SmallVector<Operation *> worklist(op->getUsers());
  while (!worklist.empty()) {
    Operation *user = worklist.pop_back_val();
    if (!visited.insert(user).second)
      continue;
    if (auto round = dyn_cast<arith::TruncFOp>(user))
      round.setRoundingmode(arith::RoundingMode::to_nearest_away);
    else
      llvm::append_range(worklist, user->getUsers());
  }
}

/// Replaces what is one of `OpTys` below `root`, on f32 or vectors of it. All
/// sites are looked at before the first is replaced.
template <typename... OpTys>
static void replaceAll(IRRewriter &rewriter, Operation *root) {
  FloatRanges ranges(root);
  NarrowUses uses(root, ranges);
  SmallVector<MathSite> sites;
  root->walk([&](Operation *op) {
    if (!isa<OpTys...>(op) || isa<TensorType>(op->getResult(0).getType()) ||
        !getElementTypeOrSelf(op->getResult(0)).isF32())
      return;
    MathSite site{op, ranges.get(op->getOperands().back()),
                  uses.getDigits(op->getResult(0))};
    if (hasFormula(site))
      sites.push_back(site);
  });
  DenseSet<Operation *> visited;
  for (const MathSite &site : sites)
    if (site.digits == Digits::BF16 && !isExact(site.op))
      roundTiesAway(site.op, visited);
  for (const MathSite &site : sites) {
    rewriter.setInsertionPoint(site.op);
    auto flags = cast<arith::ArithFastMathInterface>(site.op);
    ExprBuilder eb(rewriter, site.op->getLoc(), site.op->getResult(0).getType(),
                   flags.getFastMathFlagsAttr().getValue());
    Expr result = evaluateByArithmetic(site, eb);
    rewriter.replaceOp(site.op, result.materialize(eb));
  }
}

namespace {
struct ApproximateMathPass
    : fad::impl::FadApproximateMathBase<ApproximateMathPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    replaceAll<math::LogOp, math::Log1pOp, math::TanhOp, math::ErfOp,
               math::ErfcOp>(rewriter, getOperation());
    // Some of these have made exponentials, which may be there already, and
    // divisions.
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    replaceAll<math::ExpOp, math::ExpM1Op, arith::DivFOp, arith::MinimumFOp,
               arith::MaximumFOp>(rewriter, getOperation());
  }
};
} // namespace
