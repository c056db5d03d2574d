//===- CommonMath.h - Formulas for CPUs and GPUs ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Formulas shared by passes that compute functions by arithmetic.
// utils/fit-math.py fits the polynomials, and prints the relative error of
// each.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_MATH_COMMONMATH_H
#define FAD_LIB_CODEGEN_MATH_COMMONMATH_H

#include "fad/Interfaces/Expr.h"
#include <cmath>
#include <optional>

namespace mlir::fad {

/// The polynomial of `coefficients`, constant first, times `factor`, by
/// Horner's scheme.
inline Expr evaluatePolynomial(ArrayRef<float> coefficients, const Expr &x,
                               double factor = 1) {
  Expr sum = factor * coefficients.back();
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, factor * coefficient);
  return sum;
}

/// A product of an expression and a constant.
struct Multiple {
  Expr x;
  double factor;
};

/// Matches a product with a constant; nothing for other values.
std::optional<Multiple> matchMultiple(const Expr &product);

/// exp(-x^2), in the form of the derivative of GELU if `x` is a number times
/// the root of a power of two, so that CSE leaves one.
Expr gaussianOf(const Expr &x);

/// tanh(|x|) for |x| <= 0.625, where `size` is |x|: x + x^3 * P(x^2), 4.4e-9.
inline Expr tanhOfSmall(const Expr &x, const Expr &size) {
  constexpr float kTanh[] = {-0.3333328f, 0.13331442f, -0.053739715f,
                             0.020639084f, -0.005704983f};
  Expr s = square(x);
  return fma(evaluatePolynomial(kTanh, s) * s, size, size);
}

/// erf(x) for |x| <= 0.5: x * (2 / sqrt(pi) + x^2 * P(x^2)), 1.5e-9.
inline Expr erfOfSmall(const Expr &x) {
  constexpr float kErf[] = {-0.37612617f, 0.1128295f, -0.02676403f,
                            0.004730235f};
  Expr s = square(x);
  return x * fma(evaluatePolynomial(kErf, s), s, M_2_SQRTPI);
}

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_MATH_COMMONMATH_H
