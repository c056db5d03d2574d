//===- Formulas.cpp - Formulas that several rules share -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

bool fad::isF64(const Expr &x) {
  return !x.getValue() || getElementTypeOrSelf(x.getValue()).isF64();
}

double fad::underflow(const Expr &x) {
  // exp(-104) < 2^-150 and exp(-746) < 2^-1075: half the least denormal.
  return isF64(x) ? 746 : 104;
}

/// The bound beyond which exp(-scale * x * x) is zero, even times `x`; a number
/// of few bits.
static double gaussianEdge(const Expr &x, double scale) {
  return std::ceil(8 * std::sqrt((underflow(x) + 8) / scale)) / 8;
}

/// Whether the square of `x`, an f32, is exact: `x` is extended from bf16 or
/// f16, or a constant of as few bits, or a bound or the magnitude of one of
/// these.
static bool isShort(const Expr &x) {
  Expr constant = viewConstant(x);
  if (constant.isConstant()) {
    double times = 16 * constant.getConstant();
    return std::abs(times) < 256 && times == std::round(times);
  }
  Operation *op = x.getValue().getDefiningOp();
  if (auto extended = dyn_cast_or_null<arith::ExtFOp>(op)) {
    Type from = getElementTypeOrSelf(extended.getIn());
    return (from.isBF16() || from.isF16()) &&
           getElementTypeOrSelf(x.getValue()).isF32();
  }
  return isa_and_nonnull<math::AbsFOp, arith::MinimumFOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isShort(Expr(*x.getBuilder(), operand));
         });
}

/// Whether `x` is min(|y|, edge) already.
static bool isClamped(const Expr &x, double edge) {
  auto least = x.getValue().getDefiningOp<arith::MinimumFOp>();
  if (!least || !least.getLhs().getDefiningOp<math::AbsFOp>())
    return false;
  Expr bound = viewConstant(Expr(*x.getBuilder(), least.getRhs()));
  return bound.isConstant() && bound.getConstant() <= edge * (1 + 0x1p-20);
}

Expr fad::gaussian(const Expr &x, double scale) {
  double edge = gaussianEdge(x, scale);
  Expr size = isClamped(x, edge) ? x : min(abs(x), edge);
  Expr s = square(size);
  if (isShort(size))
    return exp(-scale * s);
  Expr exponent = -s;
  Expr lost = fma(size, size, exponent);
  Expr rounded = exp(scale * exponent);
  return rounded - scale * rounded * lost;
}

NormalParts fad::normal(const Expr &x) {
  double edge = gaussianEdge(x, 0.5);
  Expr size = min(abs(x), edge);
  Expr tail = 0.5 * erfc(size * M_SQRT1_2);
  Expr negative = x < 0;
  return {size, select(negative, tail, 1 - tail), edge};
}

/// 1 / (1 + exp(-x)), where `e` is exp(-|x|), without overflow and without loss
/// of the smaller side.
static Expr sigmoid(const Expr &negative, const Expr &e) {
  Expr numerator = select(negative, e, 1);
  return numerator / (1 + e);
}

Expr fad::sigmoid(const Expr &x) {
  Expr e = exp(-abs(x));
  return ::sigmoid(x < 0, e);
}

SigmoidParts fad::sigmoidAndComplement(const Expr &x) {
  Expr negative = x < 0;
  Expr e = exp(-abs(x));
  Expr s = ::sigmoid(negative, e);
  Expr difference = 1 - s;
  return {s, select(negative, difference, e * s)};
}

Expr fad::saturating(const Expr &slope) {
  return select(equal(slope, 0), 0, slope);
}

Expr fad::oneMinusSquare(const Expr &x) {
  Expr below = 1 - x;
  return below * (1 + x);
}
