//===- SmoothSums.cpp - Kinks that cancel ---------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Utils/SmoothSums.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

/// The operand of a negation with the result `value`, or null.
static Value getNegated(Value value) {
  if (auto neg = value.getDefiningOp<arith::NegFOp>())
    return neg.getOperand();
  auto mul = value.getDefiningOp<arith::MulFOp>();
  APFloat factor(0.0);
  if (mul && matchPattern(mul.getRhs(), m_ConstantFloat(&factor)) &&
      factor.isExactlyValue(-1))
    return mul.getLhs();
  return {};
}

/// Whether `value` is `a - b`, or `b - a`.
static bool isDifference(Value value, Value a, Value b) {
  if (auto sub = value.getDefiningOp<arith::SubFOp>())
    return (sub.getLhs() == a && sub.getRhs() == b) ||
           (sub.getLhs() == b && sub.getRhs() == a);
  if (matchPattern(a, m_AnyZeroFloat()))
    std::swap(a, b);
  return matchPattern(b, m_AnyZeroFloat()) &&
         (value == a || getNegated(value) == a);
}

/// Whether `value` is `log(1 + exp(-|a - b|))`, by any operations for it.
static bool isDistance(Value value, Value a, Value b) {
  Value exponent;
  if (auto softplus = value.getDefiningOp<SoftplusOp>()) {
    if (!softplus.getThreshold())
      exponent = softplus.getOperand();
  } else {
    Value power;
    if (auto log1p = value.getDefiningOp<math::Log1pOp>())
      power = log1p.getOperand();
    else if (auto log = value.getDefiningOp<math::LogOp>())
      if (auto sum = log.getOperand().getDefiningOp<arith::AddFOp>())
        for (auto [one, other] : {std::pair(sum.getLhs(), sum.getRhs()),
                                  std::pair(sum.getRhs(), sum.getLhs())})
          if (matchPattern(one, m_OneFloat()))
            power = other;
    if (auto exp = power ? power.getDefiningOp<math::ExpOp>() : nullptr)
      exponent = exp.getOperand();
  }
  Value size = exponent ? getNegated(exponent) : Value();
  auto abs = size ? size.getDefiningOp<math::AbsFOp>() : nullptr;
  return abs && isDifference(abs.getOperand(), a, b);
}

/// If `select` chooses between the operands of its comparison: whether it
/// chooses the greater.
static std::optional<bool> takesGreater(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return std::nullopt;
  Value a = compare.getLhs(), b = compare.getRhs();
  bool inOrder = select.getTrueValue() == a && select.getFalseValue() == b;
  bool exchanged = select.getTrueValue() == b && select.getFalseValue() == a;
  if (!inOrder && !exchanged)
    return std::nullopt;
  std::optional<bool> greater = asksForGreater(compare.getPredicate());
  return greater ? std::optional(*greater == inOrder) : std::nullopt;
}

namespace {
/// A sum or difference of a select and a distance.
template <typename SumOp> struct ShareTies : OpRewritePattern<SumOp> {
  using OpRewritePattern<SumOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(SumOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned index : {0, 1}) {
      auto select =
          op->getOperand(index).template getDefiningOp<arith::SelectOp>();
      std::optional<bool> greater =
          select ? takesGreater(select) : std::nullopt;
      if (!greater)
        continue;
      Value a = select.getTrueValue(), b = select.getFalseValue();
      Value other = op->getOperand(1 - index);
      bool isSum = isa<arith::AddFOp>(op);
      if (Value negated = getNegated(other)) {
        other = negated;
        isSum = !isSum;
      }
      if (*greater != isSum || !isDistance(other, a, b))
        continue;
      rewriter.setInsertionPoint(select);
      Operation *shared =
          isSum ? arith::MaximumFOp::create(rewriter, select.getLoc(), a, b)
                      .getOperation()
                : arith::MinimumFOp::create(rewriter, select.getLoc(), a, b)
                      .getOperation();
      shared->setDiscardableAttrs(select->getDiscardableAttrDictionary());
      rewriter.modifyOpInPlace(
          op, [&] { op->setOperand(index, shared->getResult(0)); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no smooth sum");
  }
};
} // namespace

void fad::populateSmoothSumPatterns(RewritePatternSet &patterns) {
  patterns.add<ShareTies<arith::AddFOp>, ShareTies<arith::SubFOp>>(
      patterns.getContext());
}
