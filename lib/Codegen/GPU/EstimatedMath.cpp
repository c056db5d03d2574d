//===- EstimatedMath.cpp - Functions by the GPU's estimates ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimatedMath.h"
#include "../Math/CommonMath.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

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
/// Up to 9.4: 5.6e-5.
static constexpr float kShortestErfcNumbers[] = {
    0.31009406f, 0.31627634f, 0.21429749f, 0.33371934f, -0.1744429f};
static constexpr ErfcPolynomial kShortestErfc = {0.55, kShortestErfcNumbers};

//===----------------------------------------------------------------------===//
// Estimates of the GPU
//===----------------------------------------------------------------------===//
//
// fad-math-to-ptx lowers each to one instruction, with an error of 2 units in
// the last place, and zero for results below 2^-126.

static constexpr arith::FastMathFlags kEstimate =
    arith::FastMathFlags::afn | arith::FastMathFlags::arcp;

static Expr estimateExp2(const Expr &x) {
  ExprBuilder &eb = *x.getBuilder();
  return {eb, math::Exp2Op::create(eb.b, x.getValue(), kEstimate).getResult()};
}

Expr fad::estimateReciprocal(const Expr &x) {
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

Expr fad::exponential(const Expr &x, double factor, FloatRange range) {
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

Expr fad::shortExponential(const Expr &x, double factor, double addend) {
  ExprBuilder &eb = *x.getBuilder();
  if (auto negation = x.getValue().getDefiningOp<arith::NegFOp>())
    return shortExponential(Expr(eb, negation.getOperand()), -factor, addend);
  if (std::optional<Multiple> multiple = matchMultiple(x))
    return shortExponential(multiple->x, factor * multiple->factor, addend);
  return estimateExp2(addend != 0 ? fma(x, factor, addend) : x * factor);
}

static const ErfcPolynomial &getErfc(Precision digits) {
  switch (digits) {
  case Precision::F32:
    return kErfc;
  case Precision::F16:
    return kShortErfc;
  case Precision::BF16:
    return kShortestErfc;
  }
  llvm_unreachable("there are no other digits");
}

/// erfc(x) * factor for x >= 0. With low precision it is a multiple of the
/// density of the normal distribution, which GELU's derivative needs.
static Expr complementOfError(const Expr &x, double factor, Precision digits) {
  auto [scale, coefficients] = getErfc(digits);
  Multiple multiple = matchMultiple(x).value_or(Multiple{x, 1});
  Expr t = estimateReciprocal(fma(multiple.x, multiple.factor * scale, 1));
  constexpr double kDensity = M_2_SQRTPI * M_SQRT1_2 / 2;
  Expr density = gaussianOf(x);
  if (digits != Precision::F32) {
    density = kDensity * density;
    factor /= kDensity;
  }
  return density * (evaluatePolynomial(coefficients, t, factor) * t);
}

Expr fad::complementaryError(const Expr &x, FloatRange range, double factor,
                             Precision digits) {
  if (range.isNonNegative())
    return complementOfError(x, factor, digits);
  Expr above = complementOfError(abs(x), factor, digits);
  return select(x < 0, 2 * factor - above, above);
}

Expr fad::errorFunction(const Expr &x, Precision digits) {
  Expr small = erfOfSmall(x);
  Expr large = 1 - complementOfError(abs(x), 1, digits);
  return select(abs(x) < 0.5, small, copysign(large, x));
}

Expr fad::hyperbolicTangent(const Expr &x) {
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

bool fad::hasNormalReciprocal(FloatRange range) {
  return (range.low >= 0x1p-126 && range.high <= 0x1p126) ||
         (range.high <= -0x1p-126 && range.low >= -0x1p126);
}

/// The estimate of 1 / y, or the square of an estimate if `y` is a square.
static Expr estimateReciprocalOf(const Expr &y, Precision digits) {
  auto product = y.getValue().getDefiningOp<arith::MulFOp>();
  if (digits == Precision::F32 || !product || product.getLhs() != product.getRhs())
    return estimateReciprocal(y);
  return square(estimateReciprocal(Expr(*y.getBuilder(), product.getLhs())));
}

Expr fad::quotient(const Expr &x, const Expr &y, Precision digits) {
  Expr estimate = estimateReciprocalOf(y, digits);
  Expr product = viewConstant(x).isConstant(1) ? estimate : x * estimate;
  if (digits != Precision::F32)
    return product;
  Expr rest = fma(-product, y, x);
  return fma(rest, estimate, product);
}
