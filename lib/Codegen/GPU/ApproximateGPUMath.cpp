//===- ApproximateGPUMath.cpp - Functions of f32 by the GPU's estimates ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimatedMath.h"
#include "fad/Codegen/Math/CommonMath.h"
#include "fad/Codegen/Math/DemandedPrecision.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace mlir::fad {
#define GEN_PASS_DEF_FADAPPROXIMATEGPUMATH
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Sigmoids that end up in 16 bits
//===----------------------------------------------------------------------===//

namespace {
/// The values of sigmoidAndComplement beside the quotient 1 / (1 + exp(-x)):
/// `complement`, if it exists, is exp(-x) / (1 + exp(-x)).
struct Logistic {
  Value x;
  arith::SelectOp complement;
};
} // namespace

/// `x` if `value` is exp(-|x|), or null.
static Value matchDecay(Value value) {
  auto exponential = value.getDefiningOp<math::ExpOp>();
  auto negation = exponential
                      ? exponential.getOperand().getDefiningOp<arith::NegFOp>()
                      : arith::NegFOp();
  auto size = negation ? negation.getOperand().getDefiningOp<math::AbsFOp>()
                       : math::AbsFOp();
  return size ? size.getOperand() : Value();
}

static bool isBelowZero(Value condition, Value x) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
         compare.getLhs() == x &&
         matchPattern(compare.getRhs(), m_AnyZeroFloat());
}

/// Whether `value` is `lhs` and `rhs`, in any order, combined by `OpTy`.
template <typename OpTy>
static bool combines(Value value, Value lhs, Value rhs) {
  auto op = value.getDefiningOp<OpTy>();
  return op && ((op.getLhs() == lhs && op.getRhs() == rhs) ||
                (op.getLhs() == rhs && op.getRhs() == lhs));
}

static std::optional<Logistic> matchLogistic(arith::DivFOp op) {
  auto numerator = op.getLhs().getDefiningOp<arith::SelectOp>();
  if (!numerator)
    return std::nullopt;
  Value e = numerator.getTrueValue(), one = numerator.getFalseValue();
  Value x = matchDecay(e);
  if (!x || !matchPattern(one, m_OneFloat()) ||
      !isBelowZero(numerator.getCondition(), x) ||
      !combines<arith::AddFOp>(op.getRhs(), e, one))
    return std::nullopt;
  Logistic logistic{x, {}};
  for (Operation *user : op->getUsers()) {
    auto product = dyn_cast<arith::MulFOp>(user);
    if (!product || !combines<arith::MulFOp>(product, e, op))
      continue;
    for (Operation *next : product->getUsers()) {
      auto select = dyn_cast<arith::SelectOp>(next);
      auto rest = select ? select.getTrueValue().getDefiningOp<arith::SubFOp>()
                         : arith::SubFOp();
      if (rest && select.getFalseValue() == product && rest.getLhs() == one &&
          rest.getRhs() == op && isBelowZero(select.getCondition(), x))
        logistic.complement = select;
    }
  }
  return logistic;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the f32 scalars of one kernel. Operations are visited in reverse
/// order, so that their operands still have the original form.
class Rewriter {
public:
  Rewriter(Operation *root)
      : root(root), rewriter(root->getContext()), ranges(root),
        narrow(root, ranges) {}

  /// Drops selections between a zero and a branch that is zero too.
  void dropSelections();
  /// Replaces functions, by others that `rewriteExponentials` replaces.
  void rewriteFunctions();
  /// Drops corrections of rounding errors that the result does not show.
  void dropCorrections();
  void rewriteExponentials();
  /// Fuses products and sums if the demanded precision allows it.
  void fuseProducts();

private:
  template <typename Fn> void forEach(Fn function);
  /// An expression of `value`, with operations inserted at `op`.
  Expr start(Operation *op, Value value);
  void replace(Operation *op, const Expr &result) {
    rewriter.replaceOp(op, result.getValue());
  }
  void fuse(Operation *op);
  void rewrite(math::ErfcOp op);
  void rewrite(math::ExpOp op);
  void rewrite(arith::DivFOp op);
  bool rewriteLogistic(arith::DivFOp op);

  Operation *root;
  IRRewriter rewriter;
  FloatRanges ranges;
  DemandedPrecision narrow;
  std::optional<ExprBuilder> builder;
};
} // namespace

template <typename Fn> void Rewriter::forEach(Fn function) {
  // An erased operation may erase its users, which come later in some order of
  // blocks.
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PostOrder, ForwardDominanceIterator<>>(
      [&](Operation *op) {
        if (op->getNumResults() == 1 && op->getResult(0).getType().isF32())
          ops.push_back(op);
      });
  for (Operation *op : llvm::reverse(ops))
    function(op);
}

Expr Rewriter::start(Operation *op, Value value) {
  rewriter.setInsertionPoint(op);
  builder.emplace(rewriter, op->getLoc(), value.getType());
  return {*builder, value};
}

/// `x < bound ? 0 : value`, which rules end with that stay zero whatever they
/// are multiplied by.
void Rewriter::dropSelections() {
  forEach([&](Operation *op) {
    auto select = dyn_cast<arith::SelectOp>(op);
    auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                          : arith::CmpFOp();
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OLT ||
        !matchPattern(select.getTrueValue(), m_AnyZeroFloat()))
      return;
    Value x = compare.getLhs();
    FloatRange below{ranges.get(x).low, ranges.get(compare.getRhs()).high};
    if (ranges.isZeroWhere(select.getFalseValue(), x, below))
      rewriter.replaceOp(op, select.getFalseValue());
  });
}

void Rewriter::rewriteFunctions() {
  forEach([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](math::ErfcOp erfc) { rewrite(erfc); })
        .Case([&](math::ErfOp erf) {
          Expr x = start(op, erf.getOperand());
          replace(op, errorFunction(x, narrow.getPrecision(erf)));
        })
        .Case([&](math::TanhOp tanh) {
          replace(op, hyperbolicTangent(start(op, tanh.getOperand())));
        });
  });
}

/// A power of two that multiplies the result moves into the polynomial.
void Rewriter::rewrite(math::ErfcOp op) {
  Operation *replaced = op;
  double factor = 1;
  if (op->hasOneUse())
    if (auto product = dyn_cast<arith::MulFOp>(*op->user_begin())) {
      FloatAttr constant;
      if (matchPattern(product.getRhs(), m_Constant(&constant)) &&
          constant.getValue().getExactLog2Abs() != INT_MIN) {
        factor = constant.getValueAsDouble();
        replaced = product;
      }
    }
  Expr x = start(replaced, op.getOperand());
  FloatRange range = ranges.get(op.getOperand());
  replace(replaced,
          complementaryError(x, range, factor, narrow.getPrecision(op)));
  if (replaced != op)
    rewriter.eraseOp(op);
}

void Rewriter::rewriteExponentials() {
  forEach([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](math::ExpOp exp) { rewrite(exp); })
        .Case([&](arith::DivFOp division) { rewrite(division); });
  });
}

/// Fuses a product into its sum, with one rounding. A sum of two products
/// stays, because fusing one of them could turn a difference of zero into a
/// nonzero one.
void Rewriter::fuse(Operation *op) {
  if (!narrow.endsNarrow(op->getResult(0)))
    return;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  auto first = lhs.getDefiningOp<arith::MulFOp>();
  auto second = rhs.getDefiningOp<arith::MulFOp>();
  auto isFma = [](Value value) { return value.getDefiningOp<math::FmaOp>(); };
  arith::MulFOp product = first ? first : second;
  if ((first && second) || !product || !product->hasOneUse() || isFma(lhs) ||
      isFma(rhs))
    return;
  Expr a = start(op, product.getLhs());
  Expr b(*builder, product.getRhs());
  Expr other(*builder, first ? rhs : lhs);
  bool isDifference = isa<arith::SubFOp>(op);
  // x * y - z, or z - x * y.
  if (isDifference && first)
    other = -other;
  else if (isDifference)
    a = -a;
  replace(op, fma(a, b, other));
  rewriter.eraseOp(product);
}

/// Runs after dead code elimination, because fusion depends on the number of
/// uses.
void Rewriter::fuseProducts() {
  SmallVector<Operation *> sums;
  root->walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op) &&
        op->getResult(0).getType().isF32())
      sums.push_back(op);
  });
  llvm::for_each(sums, [&](Operation *op) { fuse(op); });
}

void Rewriter::rewrite(math::ExpOp op) {
  Expr x = start(op, op.getOperand());
  if (!narrow.endsNarrow(op)) {
    FloatRange range = ranges.get(op.getOperand());
    return replace(op, exponential(x, M_LOG2E, range));
  }
  // A constant that the result is multiplied by is a sum in the exponent.
  double factor = 1;
  Operation *replaced = op;
  if (op->hasOneUse() && isa<arith::MulFOp>(*op->user_begin())) {
    Expr product(*builder, op->user_begin()->getResult(0));
    std::optional<Multiple> multiple = matchMultiple(product);
    if (multiple && multiple->factor > 0) {
      factor = multiple->factor;
      replaced = *op->user_begin();
    }
  }
  rewriter.replaceOp(
      replaced, shortExponential(x, M_LOG2E, std::log2(factor)).getValue());
  if (replaced != op)
    rewriter.eraseOp(op);
}

void Rewriter::rewrite(arith::DivFOp op) {
  bool endsNarrow = narrow.endsNarrow(op);
  if (op.getFastmath() != arith::FastMathFlags::none ||
      (endsNarrow && rewriteLogistic(op)) ||
      !hasNormalReciprocal(ranges.get(op.getRhs())))
    return;
  // An infinite quotient would become NaN.
  FloatRange x = ranges.get(op.getLhs()), y = ranges.get(op.getRhs());
  double most = std::max(std::abs(x.low), std::abs(x.high));
  double least = std::min(std::abs(y.low), std::abs(y.high));
  if (!endsNarrow && !(most <= 0x1p100 && most <= least * 0x1p126))
    return;
  Expr dividend = start(op, op.getLhs());
  Expr divisor(*builder, op.getRhs());
  replace(op, quotient(dividend, divisor, narrow.getPrecision(op)));
}

/// With w = exp(-x) the two are 1 / (1 + w) and w / (1 + w), without
/// selections: the former is zero for infinite w. So is the latter, whose
/// product with the former is needed.
bool Rewriter::rewriteLogistic(arith::DivFOp op) {
  std::optional<Logistic> logistic = matchLogistic(op);
  if (!logistic)
    return false;
  arith::SelectOp complement = logistic->complement;
  if (complement && !narrow.endsNarrow(complement))
    return false;
  Expr w = shortExponential(start(op, logistic->x), -M_LOG2E);
  if (!complement) {
    replace(op, estimateReciprocal(1 + w));
    return true;
  }
  FloatRange x = ranges.get(logistic->x);
  if (!(x.low >= -87))
    w = min(w, 0x1p127);
  Expr value = estimateReciprocal(1 + w);
  replace(complement, w * value);
  replace(op, value);
  return true;
}

/// Whether `op` is the last operation of fad::gaussian, the correction of the
/// rounding error of a square.
static bool isCorrection(arith::SubFOp op) {
  auto product = op.getRhs().getDefiningOp<arith::MulFOp>();
  auto lost =
      product ? product.getRhs().getDefiningOp<math::FmaOp>() : math::FmaOp();
  if (!lost || lost.getA() != lost.getB())
    return false;
  auto negation = lost.getC().getDefiningOp<arith::NegFOp>();
  return negation && combines<arith::MulFOp>(negation.getOperand(), lost.getA(),
                                             lost.getA());
}

void Rewriter::dropCorrections() {
  forEach([&](Operation *op) {
    auto difference = dyn_cast<arith::SubFOp>(op);
    if (difference && narrow.endsNarrow(difference) && isCorrection(difference))
      rewriter.replaceOp(op, difference.getLhs());
  });
}

namespace {
struct ApproximateGPUMathPass
    : fad::impl::FadApproximateGPUMathBase<ApproximateGPUMathPass> {
  using FadApproximateGPUMathBase::FadApproximateGPUMathBase;

  void runOnOperation() override {
    Rewriter(getOperation()).dropSelections();
    Rewriter(getOperation()).rewriteFunctions();
    shareOperations();
    Rewriter(getOperation()).dropCorrections();
    shareOperations();
    Rewriter(getOperation()).rewriteExponentials();
    shareOperations();
    if (contract)
      Rewriter(getOperation()).fuseProducts();
  }

  /// Merges the exponentials of the value and the derivative, and erases dead
  /// operations.
  void shareOperations() {
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};
} // namespace
