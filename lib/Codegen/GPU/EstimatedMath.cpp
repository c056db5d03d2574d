//===- EstimatedMath.cpp - Functions by the GPU's estimates ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimatedMath.h"
#include "fad/Codegen/Math/CommonMath.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fad;

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
  Expr scale = powerOfShifted(shifted);
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

/// erfc(x) * factor for x >= 0. With low precision it is a multiple of the
/// density of the normal distribution, which GELU's derivative needs.
static Expr complementOfError(const Expr &x, double factor, Precision digits) {
  constexpr double kDensity = M_2_SQRTPI * M_SQRT1_2 / 2;
  Expr density = gaussianOf(x);
  if (digits != Precision::F32) {
    density = kDensity * density;
    factor /= kDensity;
  }
  return erfcOfLarge(x, density, getPolynomial(Fit::erfcOnGPU, digits), factor,
                     estimateReciprocal);
}

Expr fad::complementaryError(const Expr &x, FloatRange range, double factor,
                             Precision digits) {
  if (range.isNonNegative())
    return complementOfError(x, factor, digits);
  Expr above = complementOfError(abs(x), factor, digits);
  return select(x < 0, 2 * factor - above, above);
}

Expr fad::errorFunction(const Expr &x, Precision digits) {
  return erfFromComplement(x, complementOfError(abs(x), 1, digits));
}

Expr fad::hyperbolicTangent(const Expr &x) {
  Expr size = abs(x);
  Expr e = exp(-2 * size);
  Expr t = estimateReciprocal(1 + e);
  return tanhFromLarge(x, size, fma(-2 * e, t, 1));
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
  if (digits == Precision::F32 || !product ||
      product.getLhs() != product.getRhs())
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
