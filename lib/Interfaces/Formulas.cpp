//===- Formulas.cpp - Formulas that several rules share -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Formulas.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

double fad::underflow(const Expr &x) {
  // exp(-104) < 2^-150 and exp(-746) < 2^-1075: half the least denormal.
  return getElementTypeOrSelf(x.getValue()).isF64() ? 746 : 104;
}

Expr fad::gaussian(const Expr &x, double scale) {
  // Beyond, the exponential is zero.
  double edge = std::sqrt((underflow(x) + 8) / scale);
  Expr size = min(abs(x), edge);
  Expr exponent = -square(size);
  Expr lost = fma(size, size, exponent);
  Expr rounded = exp(scale * exponent);
  return rounded - scale * rounded * lost;
}

Sigmoid fad::sigmoid(const Expr &x) {
  // With e = exp(-|x|) the two are e / (1 + e) and 1 / (1 + e). The value is
  // spelled as fad-expand-primitives spells it, so that CSE joins them.
  Expr negative = x < 0;
  Expr e = exp(-abs(x));
  Expr numerator = select(negative, e, 1);
  Expr s = numerator / (1 + e);
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
