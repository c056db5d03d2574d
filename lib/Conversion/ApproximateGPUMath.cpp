//===- ApproximateGPUMath.cpp - Functions of f32 by what GPUs estimate ----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NarrowUses.h"
#include "Polynomials.h"
#include "fad/Conversion/Passes.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace mlir::fad {
#define GEN_PASS_DEF_FADAPPROXIMATEGPUMATH
#include "fad/Conversion/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//
//
// utils/fit-math.py makes these, and states the relative error that each
// leaves.

namespace {
/// erfc(x) = exp(-x^2) * t * P(t) with t = 1 / (1 + scale * x), x >= 0.
struct ErfcPolynomial {
  double scale;
  ArrayRef<float> coefficients;
};
} // namespace

/// Up to 10.59: 2.0e-8.
static constexpr float kErfcNumbers[] = {
    0.16918743f, 0.1707237f,   0.1482869f, 0.21510512f, -0.095024f,
    0.54820573f, -0.51266396f, 0.4857346f, -0.12955554f};
static constexpr ErfcPolynomial kErfc = {0.3, kErfcNumbers};
/// Up to 9.4: 8.4e-6.
static constexpr float kShortErfcNumbers[] = {0.36638045f, 0.37395516f,
                                              0.23145479f, 0.35727224f,
                                              -0.4733052f, 0.14425096f};
static constexpr ErfcPolynomial kShortErfc = {0.65, kShortErfcNumbers};

//===----------------------------------------------------------------------===//
// What the GPU estimates
//===----------------------------------------------------------------------===//
//
// fad-math-to-ptx makes one instruction of each: an error of 2 units in the
// last place, and zero for what is below 2^-126.

static constexpr arith::FastMathFlags kEstimate =
    arith::FastMathFlags::afn | arith::FastMathFlags::arcp;

static Expr estimateExp2(const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  return {eb, math::Exp2Op::create(eb.b, x.getValue(), kEstimate).getResult()};
}

static Expr estimateReciprocal(const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  Value one = Expr(1).materialize(eb);
  return {
      eb,
      arith::DivFOp::create(eb.b, one, x.getValue(), kEstimate).getResult()};
}

static Expr atLeast(const Expr &x, double bound) {
  ExprBuilder &eb = *x.getBuilder();
  Value limit = Expr(bound).materialize(eb);
  return {eb, arith::MaxNumFOp::create(eb.b, x.getValue(), limit).getResult()};
}

static Expr atMost(const Expr &x, double bound) {
  ExprBuilder &eb = *x.getBuilder();
  Value limit = Expr(bound).materialize(eb);
  return {eb, arith::MinNumFOp::create(eb.b, x.getValue(), limit).getResult()};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// 2^(x * factor): 2^n times what is estimated for the rest, with n =
/// round(x * factor) where that leaves 2^n normal, so that neither digits of a
/// large product nor denormal numbers are lost.
static Expr exponential(const Expr &x, double factor, FloatRange range) {
  ExprBuilder &eb = *x.getBuilder();
  // The sum of this and n has n + 127 in its low bits.
  constexpr float kShift = 12582912 + 127;
  double least = -126 / factor, greatest = 127 / factor;
  Expr clamped = range.low >= least ? x : atLeast(x, least);
  clamped = range.high <= greatest ? clamped : atMost(clamped, greatest);
  float high = static_cast<float>(factor);
  Expr shifted = fma(clamped, high, kShift);
  Expr n = shifted - kShift;
  Expr rest = fma(x, high, -n);
  if (high != factor)
    rest = fma(x, factor - high, rest);
  Type i32 = eb.b.getI32Type();
  Value bits = arith::BitcastOp::create(eb.b, i32, shifted.getValue());
  Value places = arith::ConstantIntOp::create(eb.b, i32, 23);
  Value power = arith::ShLIOp::create(eb.b, bits, places);
  Expr scale(eb, arith::BitcastOp::create(eb.b, eb.type, power).getResult());
  return estimateExp2(rest) * scale;
}

namespace {
/// A product of an expression and a constant.
struct Multiple {
  Expr x;
  double factor;
};
} // namespace

static std::optional<Multiple> matchMultiple(const Expr &product) {
  auto op = product.getValue().getDefiningOp<arith::MulFOp>();
  if (!op)
    return std::nullopt;
  ExprBuilder &eb = *product.getBuilder();
  Value operands[] = {op.getLhs(), op.getRhs()};
  for (int i : {0, 1}) {
    Expr constant = viewConstant(Expr(eb, operands[i]));
    if (constant.isConstant())
      return Multiple{Expr(eb, operands[1 - i]), constant.getConstant()};
  }
  return std::nullopt;
}

/// 2^(x * factor + addend) for numbers that end up in 16 bits. A constant that
/// `x` is a product of is multiplied by `factor` beforehand.
static Expr shortExponential(const Expr &x, double factor, double addend = 0) {
  ExprBuilder &eb = *x.getBuilder();
  if (auto negation = x.getValue().getDefiningOp<arith::NegFOp>())
    return shortExponential(Expr(eb, negation.getOperand()), -factor, addend);
  if (std::optional<Multiple> multiple = matchMultiple(x))
    return shortExponential(multiple->x, factor * multiple->factor, addend);
  return estimateExp2(addend != 0 ? fma(x, factor, addend) : x * factor);
}

/// exp(-x^2). Where `x` is a product as in GELU it is spelled as GELU's
/// derivative spells it, so that CSE leaves one.
static Expr gaussianOf(const Expr &x) {
  std::optional<Multiple> multiple = matchMultiple(x);
  if (multiple && multiple->factor == static_cast<float>(M_SQRT1_2))
    return gaussian(multiple->x, 0.5);
  return gaussian(x, 1);
}

/// erfc(x) * factor for x >= 0. Where digits do not count it is a multiple of
/// the density of the normal distribution, which GELU's derivative needs.
static Expr complementOfError(const Expr &x, double factor, bool endsNarrow) {
  auto [scale, coefficients] = endsNarrow ? kShortErfc : kErfc;
  Multiple multiple = matchMultiple(x).value_or(Multiple{x, 1});
  Expr t = estimateReciprocal(fma(multiple.x, multiple.factor * scale, 1));
  constexpr double kDensity = M_2_SQRTPI * M_SQRT1_2 / 2;
  Expr density = gaussianOf(x);
  if (endsNarrow) {
    density = kDensity * density;
    factor /= kDensity;
  }
  return density * (evaluatePolynomial(coefficients, t, factor) * t);
}

static Expr evaluate(math::ErfcOp, const Expr &x, FloatRange range,
                     double factor, bool endsNarrow) {
  if (range.isNonNegative())
    return complementOfError(x, factor, endsNarrow);
  Expr above = complementOfError(abs(x), factor, endsNarrow);
  return select(x < 0, 2 * factor - above, above);
}

static Expr evaluate(math::ErfOp, const Expr &x, bool endsNarrow) {
  Expr small = erfOfSmall(x);
  Expr large = 1 - complementOfError(abs(x), 1, endsNarrow);
  return select(abs(x) < 0.5, small, copysign(large, x));
}

static Expr evaluate(math::TanhOp, const Expr &x) {
  Expr size = abs(x);
  Expr small = tanhOfSmall(x, size);
  Expr e = exp(-2 * size);
  Expr t = estimateReciprocal(1 + e);
  Expr large = fma(-2 * e, t, 1);
  return copysign(select(size < 0.625, small, large), x);
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// Whether the reciprocal of a number in `range` is normal, and the number not
/// zero.
static bool hasNormalReciprocal(FloatRange range) {
  return (range.low >= 0x1p-126 && range.high <= 0x1p126) ||
         (range.high <= -0x1p-126 && range.low >= -0x1p126);
}

/// The estimate of 1 / y, or of its square where `y` is one.
static Expr estimateReciprocalOf(const Expr &y, bool endsNarrow) {
  auto product = y.getValue().getDefiningOp<arith::MulFOp>();
  if (!endsNarrow || !product || product.getLhs() != product.getRhs())
    return estimateReciprocal(y);
  return square(estimateReciprocal(Expr(*y.getBuilder(), product.getLhs())));
}

/// Within 2 units, or within 1 where one step of Newton's method cannot meet an
/// infinite number.
static Expr quotient(const Expr &x, const Expr &y, bool endsNarrow) {
  Expr estimate = estimateReciprocalOf(y, endsNarrow);
  Expr product = viewConstant(x).isConstant(1) ? estimate : x * estimate;
  if (endsNarrow)
    return product;
  Expr rest = fma(-product, y, x);
  return fma(rest, estimate, product);
}

//===----------------------------------------------------------------------===//
// Sigmoids that end up in 16 bits
//===----------------------------------------------------------------------===//

namespace {
/// The operations that fad::sigmoid spells: `value` is 1 / (1 + exp(-x)) and
/// `complement`, if there is one, exp(-x) / (1 + exp(-x)).
struct Logistic {
  Value x;
  arith::DivFOp value;
  arith::SelectOp complement;
};
} // namespace

/// `x` where `value` is exp(-|x|), or null.
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
  Logistic logistic{x, op, {}};
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
/// Rewrites the f32 scalars of one kernel. Operations are visited from the last
/// to the first, so that what computes their operands is still as it was.
class Rewriter {
public:
  Rewriter(Operation *root)
      : root(root), rewriter(root->getContext()), ranges(root),
        narrow(root, ranges) {}

  /// Drops selections of a zero where the other branch is zero too.
  void dropSelections();
  /// Replaces functions, by others that `rewriteExponentials` replaces.
  void rewriteFunctions();
  /// Drops what makes up for rounding where it does not show.
  void dropCorrections();
  void rewriteExponentials();

private:
  template <typename Fn> void forEach(Fn function);
  /// An expression of `value`, where operations take the place of `op`.
  Expr start(Operation *op, Value value);
  void replace(Operation *op, const Expr &result) {
    rewriter.replaceOp(op, result.getValue());
  }
  void contract(Operation *op);
  void rewrite(math::ErfcOp op);
  void rewrite(math::ExpOp op);
  void rewrite(arith::DivFOp op);
  bool rewriteLogistic(arith::DivFOp op);

  Operation *root;
  IRRewriter rewriter;
  FloatRanges ranges;
  NarrowUses narrow;
  std::optional<ExprBuilder> builder;
};
} // namespace

template <typename Fn> void Rewriter::forEach(Fn function) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
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
          replace(op, evaluate(erf, x, narrow.endsNarrow(erf)));
        })
        .Case([&](math::TanhOp tanh) {
          replace(op, evaluate(tanh, start(op, tanh.getOperand())));
        });
  });
}

/// A power of two that the result is multiplied by goes into the polynomial.
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
  bool endsNarrow = narrow.endsNarrow(op);
  FloatRange range = ranges.get(op.getOperand());
  replace(replaced, evaluate(op, x, range, factor, endsNarrow));
  if (replaced != op)
    rewriter.eraseOp(op);
}

void Rewriter::rewriteExponentials() {
  forEach([&](Operation *op) {
    contract(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](math::ExpOp exp) { rewrite(exp); })
        .Case([&](arith::DivFOp division) { rewrite(division); });
  });
}

/// Lets a product and a sum be rounded once.
void Rewriter::contract(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) ||
      !narrow.endsNarrow(op->getResult(0)))
    return;
  auto flags = arith::FastMathFlagsAttr::get(
      op->getContext(), cast<arith::ArithFastMathInterface>(op)
                                .getFastMathFlagsAttr()
                                .getValue() |
                            arith::FastMathFlags::contract);
  op->setAttr("fastmath", flags);
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
  FloatRange numerator = ranges.get(op.getLhs());
  bool isBounded = numerator.low >= -0x1p100 && numerator.high <= 0x1p100;
  if (!isBounded && !endsNarrow)
    return;
  Expr x = start(op, op.getLhs());
  Expr y(*builder, op.getRhs());
  replace(op, quotient(x, y, endsNarrow));
}

/// With w = exp(-x) the two are 1 / (1 + w) and w / (1 + w), without
/// selections: the former is zero where w is infinite, and so is the latter,
/// which is needed for products with the former.
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

/// Whether `op` is what fad::gaussian ends with: it takes something off for the
/// rounding of a square.
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
  void runOnOperation() override {
    Rewriter(getOperation()).dropSelections();
    Rewriter(getOperation()).rewriteFunctions();
    shareOperations();
    Rewriter(getOperation()).dropCorrections();
    shareOperations();
    Rewriter(getOperation()).rewriteExponentials();
  }

  /// The value and the derivative have an exponential each; what is not used
  /// any more goes.
  void shareOperations() {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};
} // namespace
