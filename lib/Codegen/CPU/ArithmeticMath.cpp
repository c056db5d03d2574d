//===- ArithmeticMath.cpp - Functions of f32 by arithmetic ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArithmeticMath.h"
#include "fad/Codegen/Math/Bits.h"
#include "fad/Codegen/Math/CommonMath.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace mlir::fad;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static Value toBits(const Expr &x) {
  return toBits(x.getBuilder()->b, x.getValue());
}

static Expr fromBits(ExprBuilder &eb, Value bits) {
  return {eb, fromBits(eb.b, bits)};
}

/// 2^exponent, for exponents from -127, which give 0, to 127.
static Expr powerOfTwo(ExprBuilder &eb, Value exponent) {
  Value biased = combine<arith::AddIOp>(eb.b, exponent, 127);
  return fromBits(eb, combine<arith::ShLIOp>(eb.b, biased, 23));
}

/// 1.5 * 2^23: the sum of it and a small number is rounded to an integer, which
/// its low bits hold.
static constexpr float kRound = 12582912;
static constexpr int32_t kRoundBits = 0x4b400000;
/// ln 2 in two parts, the first of so few bits that multiples are exact.
static constexpr float kLn2High = 0.693145751953125f;
static constexpr float kLn2Low = 1.42860682030941723e-6f;
/// exp of less is 0, of more is infinite.
static constexpr float kMinExponent = -104, kGreatestExponent = 89;

//===----------------------------------------------------------------------===//
// One formula per function
//===----------------------------------------------------------------------===//

namespace {
/// factor * x = n * ln 2 + factor * r with |factor * r| <= ln 2 / 2, and n in
/// the low bits of `shifted`.
struct Reduced {
  Expr shifted;
  Expr r;
};
} // namespace

/// For |factor * x| of up to some hundreds, n plus `bias` in `shifted`. With
/// all digits where `factor` is one.
static Reduced reduceByLn2(const Expr &x, Precision digits, int32_t bias = 0,
                           double factor = 1) {
  double round = kRound + bias;
  Expr shifted = fma(x, factor * M_LOG2E, round);
  Expr n = shifted - round;
  if (digits != Precision::F32)
    return {shifted, fma(n, -M_LN2 / factor, x)};
  Expr high = fma(n, -kLn2High, x);
  return {shifted, fma(n, -kLn2Low, high)};
}

/// NaN stays, unlike with min and max.
static Expr clampExponent(const Expr &x) {
  Expr above = select(x < kMinExponent, kMinExponent, x);
  return select(above > kGreatestExponent, kGreatestExponent, above);
}

/// `result`, or `x` if that is zero, of either sign.
static Expr selectZero(const Expr &x, const Expr &result) {
  return select(equal(x, 0), x, result);
}

/// The coefficients in x of a polynomial with `coefficients` in factor * x.
static SmallVector<float> stretch(ArrayRef<float> coefficients, double factor) {
  SmallVector<float> stretched;
  double power = 1;
  for (float coefficient : coefficients) {
    stretched.push_back(coefficient * power);
    power *= factor;
  }
  return stretched;
}

/// exp(factor * r) times `scale`, a power of two.
static Expr scaledExp(const Expr &r, double scale, Precision digits,
                      double factor = 1) {
  // The rounding error of r is negligible.
  if (digits != Precision::F32)
    return evaluatePolynomial(
        stretch(getPolynomial(Fit::exp, digits).coefficients, factor), r,
        scale);
  Expr rounded = 1 + r;
  Expr lost = r - (rounded - 1);
  Expr power = rounded + fma(evaluatePolynomial(Fit::exp, r), square(r), lost);
  return power * scale;
}

/// `x` as a multiple, if its constant factor can move into other constants
/// without rounding: a power of two, neither small nor large. `x` itself
/// otherwise.
static Multiple viewMultiple(const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  if (auto opposite = x.getValue().getDefiningOp<arith::NegFOp>())
    return {Expr(eb, opposite.getOperand()), -1};
  Multiple multiple = matchMultiple(x).value_or(Multiple{x, 1});
  double size = std::abs(multiple.factor);
  bool isSmallPower =
      size >= 0x1p-4 && size <= 0x1p4 && std::exp2(std::ilogb(size)) == size;
  return isSmallPower ? multiple : Multiple{x, 1};
}

/// `x`, bounded below such that factor * x is at least the least exponent.
static Expr boundExponent(const Expr &x, double factor) {
  double bound = kMinExponent / factor;
  return select(factor > 0 ? x < bound : x > bound, bound, x);
}

/// 2^n * exp(r).
static Expr evaluate(math::ExpOp, const Expr &x, const MathSite &site) {
  ExprBuilder &eb = *x.getBuilder();
  // For n up to 63, 2^(n + 64) and exp(r) * 2^-64 are normal numbers, and their
  // product is rounded once.
  constexpr int32_t kShift = 64, kBias = 127;
  if (site.range.high <= 43) {
    auto [multiple, factor] =
        site.digits == Precision::F32 ? Multiple{x, 1} : viewMultiple(x);
    bool mayUnderflow = site.range.low < -130;
    Expr bounded = mayUnderflow ? boundExponent(multiple, factor) : multiple;
    auto [shifted, r] =
        reduceByLn2(bounded, site.digits, kShift + kBias, factor);
    // Compilers order operands that are calls as they like.
    Expr power = powerOfShifted(shifted);
    return scaledExp(r, 0x1p-64, site.digits, factor) * power;
  }
  // Otherwise the power is in two parts, each normal.
  auto [shifted, r] = reduceByLn2(clampExponent(x), site.digits);
  Value n = combine<arith::SubIOp>(eb.b, toBits(shifted), kRoundBits);
  Value half = combine<arith::ShRSIOp>(eb.b, n, 1);
  Expr low = powerOfTwo(eb, half);
  Expr high = powerOfTwo(eb, arith::SubIOp::create(eb.b, n, half));
  return scaledExp(r, 1, site.digits) * low * high;
}

/// 2^n * expm1(r) + (2^n - 1), halved to prevent an early overflow.
static Expr evaluate(math::ExpM1Op, const Expr &x, const MathSite &) {
  ExprBuilder &eb = *x.getBuilder();
  auto [shifted, r] = reduceByLn2(clampExponent(x), Precision::F32);
  Value n = combine<arith::SubIOp>(eb.b, toBits(shifted), kRoundBits);
  Expr power = fma(evaluatePolynomial(Fit::exp, r), square(r), r);
  // Below 2^-126 the power does not count.
  Value least = constantBits(eb.b, n.getType(), -126);
  Value above = arith::MaxSIOp::create(eb.b, n, least);
  Expr half = powerOfTwo(eb, combine<arith::SubIOp>(eb.b, above, 1));
  return selectZero(x, 2 * fma(power, half, half - 0.5));
}

/// log(1 + m) + k * ln 2.
static Expr sumLog(const Expr &m, const Expr &k) {
  Expr tail = fma(evaluatePolynomial(Fit::log1p, m), m, -0.5);
  Expr core = fma(tail, square(m), m);
  return fma(k, kLn2High, fma(k, kLn2Low, core));
}

/// `finite` if `x` is positive and finite, otherwise the special value of
/// log(x).
static Expr selectLog(const Expr &x, const Expr &finite) {
  Expr positive = select(x < kInfinity, finite, x);
  double notANumber = std::numeric_limits<double>::quiet_NaN();
  Expr other = select(equal(x, 0), -kInfinity, notANumber);
  return select(x > 0, positive, other);
}

namespace {
/// x = 2^exponent * (1 + mantissa) with sqrt(1/2) <= 1 + mantissa < sqrt(2).
struct Split {
  Value exponent;
  Expr mantissa;
};
} // namespace

/// For a normal `x` above zero.
static Split splitExponent(const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  constexpr int32_t kRootBits = 0x3f3504f3; // sqrt(1/2)
  Value bits = toBits(x);
  Value offset = combine<arith::SubIOp>(eb.b, bits, kRootBits);
  Value exponent = combine<arith::ShRSIOp>(eb.b, offset, 23);
  Value scale = combine<arith::ShLIOp>(eb.b, exponent, 23);
  Value mantissa = arith::SubIOp::create(eb.b, bits, scale);
  return {exponent, fromBits(eb, mantissa) - 1};
}

static Expr toFloat(ExprBuilder &eb, Value integer) {
  return {eb, arith::SIToFPOp::create(eb.b, eb.type, integer).getResult()};
}

static Expr evaluate(math::LogOp, const Expr &x, const MathSite &) {
  ExprBuilder &eb = *x.getBuilder();
  // 2^-126, below which numbers have fewer digits.
  Expr isSmall = x < 0x1p-126;
  auto [exponent, mantissa] = splitExponent(select(isSmall, x * 0x1p23, x));
  Expr k = toFloat(eb, exponent) - select(isSmall, 23, 0);
  return selectLog(x, sumLog(mantissa, k));
}

/// log(u) with u = 1 + x, corrected by the rounding error of u.
static Expr evaluate(math::Log1pOp, const Expr &x, const MathSite &site) {
  ExprBuilder &eb = *x.getBuilder();
  // Ranges are rounded outwards.
  bool isInReach = site.range.low >= 0 && site.range.high <= 1.0001;
  if (isInReach && site.digits != Precision::F32)
    return x * evaluatePolynomial(Fit::log1p, x, site.digits);
  Expr u = 1 + x;
  Expr lost = x - (u - 1);
  auto [exponent, mantissa] = splitExponent(u);
  // Above 2^126 the rounding error is zero.
  Value zero = constantBits(eb.b, exponent.getType(), 0);
  Value opposite = arith::SubIOp::create(eb.b, zero, exponent);
  Value least = constantBits(eb.b, exponent.getType(), -127);
  Expr scale = powerOfTwo(eb, arith::MaxSIOp::create(eb.b, opposite, least));
  Expr m = fma(lost, scale, mantissa);
  return selectZero(x, selectLog(u, sumLog(m, toFloat(eb, exponent))));
}

static Expr erfcOfLarge(const Expr &x, const Expr &density,
                        Precision digits = Precision::F32) {
  return erfcOfLarge(x, density, getPolynomial(Fit::erfc, digits),
                     /*factor=*/1, [](const Expr &y) { return 1 / y; });
}

static Expr evaluate(math::ErfOp, const Expr &x, const MathSite &) {
  return erfFromComplement(x, erfcOfLarge(abs(x), gaussian(x, 1)));
}

static Expr evaluate(math::ErfcOp, const Expr &x, const MathSite &site) {
  Expr density = gaussianOf(x);
  bool isInReach = site.range.low >= 0 && site.range.high < 0x1p64;
  if (isInReach && site.digits != Precision::F32)
    return erfcOfLarge(x, density, site.digits);
  Expr above = erfcOfLarge(abs(x), density);
  Expr large = select(x < 0, 2 - above, above);
  return select(abs(x) < 0.5, 1 - erfOfSmall(x), large);
}

/// 1 / x, for |x| from 2^-120 to 2^120. An estimate from the bits errs by 5%. A
/// step of Newton's method leaves 0.13%, and one of third order a unit in the
/// last place. The result for 1 is exact, so functions that saturate reach
/// their limit.
static Expr reciprocal(const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  Value bits = toBits(x);
  Value seed = constantBits(eb.b, bits.getType(), 0x7ef34000);
  Expr y = fromBits(eb, arith::SubIOp::create(eb.b, seed, bits));
  Expr negative = -x;
  // 2.0013 leaves errors of both signs, alike in size.
  Expr better = y * fma(negative, y, 2.0013);
  Expr error = fma(negative, better, 1);
  return fma(better, fma(error, error, error), better);
}

/// -m / (2 + m) with m = expm1(-2 * |x|) = 2^n * expm1(r) + (2^n - 1).
static Expr tanhOfNarrow(const Expr &x, Precision digits) {
  constexpr double kFactor = -2;
  constexpr int32_t kBias = 127;
  // For larger x the result is 1.
  Expr size = select(abs(x) > 10, 10, abs(x));
  auto [shifted, r] = reduceByLn2(size, digits, kBias, kFactor);
  // Of the polynomials for exp, relative to expm1 the short one errs by 2^-20,
  // which is too much for f16.
  SmallVector<float> polynomial = {1};
  llvm::append_range(
      polynomial,
      digits == Precision::BF16
          ? getPolynomial(Fit::exp, Precision::F16).coefficients.drop_front(2)
          : getPolynomial(Fit::exp).coefficients);
  Expr slope = evaluatePolynomial(stretch(polynomial, kFactor), r, kFactor);
  Expr power = powerOfShifted(shifted);
  Expr m = fma(power, r * slope, power - 1);
  return copysign(m * reciprocal(2 + m), x);
}

static Expr evaluate(math::TanhOp, const Expr &x, const MathSite &site) {
  if (site.digits != Precision::F32)
    return tanhOfNarrow(x, site.digits);
  Expr all = abs(x);
  // For larger x the result is 1. The bound makes the exponential shorter.
  Expr size = select(all > 20, 20, all);
  return tanhFromLarge(x, size, 1 - 2 / (exp(2 * size) + 1));
}

/// lhs / rhs, for rhs from 2^-120 to 2^120.
static Expr evaluate(arith::DivFOp op, const Expr &rhs) {
  ExprBuilder &eb = *rhs.getBuilder();
  Expr lhs = viewConstant(Expr(eb, op.getLhs()));
  // (a / b^2) is a * (1 / b)^2, and 1 / b may be there.
  auto product = op.getRhs().getDefiningOp<arith::MulFOp>();
  if (!product || product.getLhs() != product.getRhs())
    return lhs * reciprocal(rhs);
  Expr root(eb, product.getLhs());
  return lhs * square(reciprocal(root));
}

/// Minima and maxima with a constant other than zero, for which signs of zeros
/// do not matter: a comparison and a selection treat NaN alike, and are one
/// instruction of x86.
template <typename OpTy> static Expr evaluateBound(OpTy op, const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  Expr bound(eb, op.getRhs());
  if constexpr (std::is_same_v<OpTy, arith::MinimumFOp>)
    return select(x > bound, bound, x);
  else
    return select(x < bound, bound, x);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// Whether `site.op` is a minimum or maximum with a constant that evaluateBound
/// takes.
static bool hasBound(const MathSite &site) {
  return site.range.low == site.range.high && site.range.low != 0 &&
         site.op->getOperand(1).getDefiningOp<arith::ConstantOp>();
}

bool fad::isFunction(Operation *op) {
  return isa<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp,
             math::TanhOp, math::ErfOp, math::ErfcOp>(op);
}

bool fad::hasFormula(const MathSite &site) {
  if (isa<arith::DivFOp>(site.op))
    return site.digits != Precision::F32 && site.range.low >= 0x1p-120 &&
           site.range.high <= 0x1p120;
  if (isa<arith::MinimumFOp, arith::MaximumFOp>(site.op))
    return hasBound(site);
  return isFunction(site.op);
}

Expr fad::evaluateByArithmetic(const MathSite &site, ExprBuilder &eb) {
  auto at = [&](unsigned index) {
    return Expr(eb, site.op->getOperand(index));
  };
  return llvm::TypeSwitch<Operation *, Expr>(site.op)
      .Case<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp,
            math::TanhOp, math::ErfOp, math::ErfcOp>(
          [&](auto op) { return evaluate(op, at(0), site); })
      .Case([&](arith::DivFOp op) { return evaluate(op, at(1)); })
      .Case<arith::MinimumFOp, arith::MaximumFOp>(
          [&](auto op) { return evaluateBound(op, at(0)); });
}
