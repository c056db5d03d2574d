//===- Formulas.h - Formulas that rules and lowerings share -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_FORMULAS_H
#define FAD_INTERFACES_FORMULAS_H

#include "fad/Interfaces/Expr.h"

namespace mlir::fad {

/// Whether `x` is computed in f64, as a constant is.
bool isF64(const Expr &x);

/// A `t` such that `exp(-t)` rounds to zero in the type of `x`.
///
/// Rules of functions that saturate return a constant zero beyond the point
/// where their derivative rounds to zero. The product of a constant zero and an
/// infinite tangent is zero (see `tangentProduct`); that of a computed zero is
/// NaN.
double underflow(const Expr &x);

/// `exp(-scale * x * x)`, zero for infinite `x`. `scale` is a power of two. The
/// formula corrects the rounding error of the square, which the exponential
/// magnifies, unless `x` is known to have so few bits that the square is exact.
/// The error function and its derivatives use the same formula, so that CSE
/// leaves one exponential.
Expr gaussian(const Expr &x, double scale);

/// The distribution function `Phi` of the normal distribution,
/// `erfc(-x / sqrt(2)) / 2`, accurate near zero. `size` is `min(|x|, edge)`;
/// beyond `edge` the density is zero, even times `edge`. The value and the
/// derivative of GELU use the same formula, so that CSE leaves one.
struct NormalParts {
  Expr size;
  Expr Phi;
  double edge;
};
NormalParts normal(const Expr &x);

/// The logistic function, `1 / (1 + exp(-x))`, accurate near zero.
Expr sigmoid(const Expr &x);

/// The logistic function `s = 1 / (1 + exp(-x))` and `1 - s`, each accurate
/// near zero.
struct SigmoidParts {
  Expr value;
  Expr complement;
};
SigmoidParts sigmoidAndComplement(const Expr &x);

/// An activation `x * f(x)` with `f` growing from 0 to 1: its derivative
/// `f + x * f'` is 0 below `-edge`, and `x` may be taken for `edge` above
/// it, where `f'` is zero but `x` may be infinite.
template <typename Formula>
Expr gate(const Expr &x, double edge, Formula formula) {
  Expr slope = formula(min(x, edge));
  return select(x < -edge, 0, slope);
}

/// `slope`, with a constant zero where it is zero: a derivative in terms of the
/// result of a function that saturates.
Expr saturating(const Expr &slope);

/// `(1 - x) * (1 + x)`: 1 - x^2 without cancellation near 1.
Expr oneMinusSquare(const Expr &x);

} // namespace mlir::fad

#endif // FAD_INTERFACES_FORMULAS_H
