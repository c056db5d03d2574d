//===- ApproximateMath.cpp - The pass fad-approximate-math ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArithmeticMath.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADAPPROXIMATEMATH
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Ties
//===----------------------------------------------------------------------===//

/// Whether `value` is representable in bf16, so that rounding to bf16 is exact.
static bool isBF16Number(Value value) {
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    return getElementTypeOrSelf(extend.getIn()).isBF16();
  llvm::APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return false;
  bool losesInfo = false;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return !losesInfo;
}

/// Whether the result of `op` has the error of a function. `rough` are the
/// earlier values with such errors. The other operands of a selection have to
/// be representable in bf16.
static bool isRough(Operation *op, const DenseSet<Value> &rough,
                    const DemandedPrecision &uses) {
  if (isFunction(op))
    return uses.endsInBF16(op->getResult(0));
  auto isRoughValue = [&](Value value) { return rough.contains(value); };
  auto operands = op->getOperands();
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::NegFOp, math::FmaOp, math::AbsFOp, math::SqrtOp>(op))
    return llvm::any_of(operands, isRoughValue);
  if (isa<arith::SelectOp>(op))
    operands = operands.drop_front();
  else if (!isa<arith::MinimumFOp, arith::MaximumFOp, arith::MinNumFOp,
                arith::MaxNumFOp>(op))
    return false;
  return llvm::any_of(operands, isRoughValue) &&
         llvm::all_of(operands, [&](Value value) {
           return isRoughValue(value) || isBF16Number(value);
         });
}

/// Rounds values with the error of a function to bf16 with ties away from zero.
/// This takes fewer operations than a test for even numbers, and the error is
/// larger than the distance from a tie. The program may ask for another
/// rounding mode.
static void roundTiesAway(Operation *root) {
  DemandedPrecision uses(root);
  DenseSet<Value> rough;
  root->walk([&](Operation *op) {
    if (op->getNumResults() != 1)
      return;
    auto round = dyn_cast<arith::TruncFOp>(op);
    bool isToBF16 = round && getElementTypeOrSelf(round.getType()).isBF16();
    if (isToBF16 && !round.getRoundingmode() && rough.contains(round.getIn()))
      round.setRoundingmode(arith::RoundingMode::to_nearest_away);
    else if (isRough(op, rough, uses))
      rough.insert(op->getResult(0));
  });
}

//===----------------------------------------------------------------------===//
// Replacements
//===----------------------------------------------------------------------===//

/// Replaces operations of `OpTys` below `root`, on f32 or vectors of it. All
/// sites are analyzed before the first is replaced.
template <typename... OpTys>
static void replaceAll(IRRewriter &rewriter, Operation *root) {
  FloatRanges ranges(root);
  DemandedPrecision uses(root, ranges);
  SmallVector<MathSite> sites;
  root->walk([&](Operation *op) {
    if (!isa<OpTys...>(op) || isa<TensorType>(op->getResult(0).getType()) ||
        !getElementTypeOrSelf(op->getResult(0)).isF32())
      return;
    MathSite site{op, ranges.get(op->getOperands().back()),
                  uses.getPrecision(op->getResult(0))};
    if (hasFormula(site))
      sites.push_back(site);
  });
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
  using FadApproximateMathBase::FadApproximateMathBase;

  void runOnOperation() override {
    if (tiesAway)
      roundTiesAway(getOperation());
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
