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

/// A `t` such that `exp(-t)` rounds to zero in the type of `x`.
///
/// Rules of functions that saturate return a constant zero beyond the point
/// where their derivative rounds to one anyway. A constant survives the
/// multiplication with an infinite tangent (see `tangentProduct`), a value
/// that happens to be zero does not.
double underflow(const Expr &x);

/// `exp(-scale * x * x)`, zero where `x` is infinite. `scale` is a power of two.
/// The rounding error of the square, which the exponential magnifies, is made up
/// for, unless `x` is known to have so few bits that there is none. The error
/// function and the derivatives that it occurs in spell it alike, so that CSE
/// leaves one exponential.
Expr gaussian(const Expr &x, double scale);

/// The distribution function `Phi` of the normal distribution, `erfc(-x / sqrt(2))
/// / 2`, accurate where it is close to zero. `size` is `min(|x|, edge)`; beyond
/// `edge` the density is zero, even times `edge`. The value and the derivative of
/// GELU spell it alike, so that CSE leaves one.
struct Normal {
  Expr size;
  Expr Phi;
  double edge;
};
Normal normal(const Expr &x);

/// The logistic function, `1 / (1 + exp(-x))`.
Expr logistic(const Expr &x);

/// The logistic function `s = 1 / (1 + exp(-x))` and `1 - s`, each accurate
/// where it is close to zero.
struct Sigmoid {
  Expr value;
  Expr complement;
};
Sigmoid sigmoid(const Expr &x);

/// `tanh(log(1 + exp(x)))`, without cancellation and without overflow: with
/// `e = exp(top)`, `n = e * (e + 2)` and `m = n + 2` it is `n / m`. `top` is `x`, but
/// where the value rounds to 1.
struct Mish {
  Expr top;
  Expr e;
  Expr n;
  Expr m;
  Expr value;
};
Mish mish(const Expr &x);

/// `slope`, with a constant zero where it is zero; for derivatives that are
/// read off the result of a function that saturates.
Expr saturating(const Expr &slope);

/// `(1 - x) * (1 + x)`: 1 - x^2 without cancellation near 1.
Expr oneMinusSquare(const Expr &x);

} // namespace mlir::fad

#endif // FAD_INTERFACES_FORMULAS_H
