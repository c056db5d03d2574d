//===- CommonMath.h - Formulas for CPUs and GPUs ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Formulas shared by passes that compute functions by arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_MATH_COMMONMATH_H
#define FAD_CODEGEN_MATH_COMMONMATH_H

#include "fad/Codegen/Math/DemandedPrecision.h"
#include "fad/Interfaces/Expr.h"
#include <optional>

namespace mlir::fad {

/// The functions of Polynomials.def.
enum class Fit { exp, log1p, tanh, erf, erfc, erfcOnGPU };

/// An entry of Polynomials.def.
struct Polynomial {
  /// The constant comes first.
  ArrayRef<float> coefficients;
  /// The factor of x in t, of erfc.
  double scale;
};

/// The polynomial for `function` where uses demand `precision`.
Polynomial getPolynomial(Fit function, Precision precision = Precision::F32);

/// The polynomial of `coefficients`, times `factor`, by Horner's scheme.
Expr evaluatePolynomial(ArrayRef<float> coefficients, const Expr &x,
                        double factor = 1);
inline Expr evaluatePolynomial(Fit function, const Expr &x,
                               Precision precision = Precision::F32) {
  return evaluatePolynomial(getPolynomial(function, precision).coefficients, x);
}

/// 2^n for n from -126 to 127, as low bits of `shifted`, an f32, that have a
/// bias of 127.
Expr powerOfShifted(const Expr &shifted);

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

/// erf(x) for |x| <= 0.5.
Expr erfOfSmall(const Expr &x);

/// erf(x), where `complement` is erfc(|x|).
Expr erfFromComplement(const Expr &x, const Expr &complement);

/// erfc(x) * factor for x >= 0 from `polynomial`, where `density` is exp(-x^2).
/// `reciprocal` gives 1 / y.
Expr erfcOfLarge(const Expr &x, const Expr &density,
                 const Polynomial &polynomial, double factor,
                 llvm::function_ref<Expr(const Expr &)> reciprocal);

/// tanh(x), where `size` is |x|, at least up to where the result is 1, and
/// `large` is tanh(|x|) for |x| > 0.625.
Expr tanhFromLarge(const Expr &x, const Expr &size, const Expr &large);

} // namespace mlir::fad

#endif // FAD_CODEGEN_MATH_COMMONMATH_H
