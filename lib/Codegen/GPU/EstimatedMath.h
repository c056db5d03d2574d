//===- EstimatedMath.h - Functions by what GPUs estimate --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Formulas of fad-approximate-gpu-math. With `endsNarrow`, numbers end up in 16
// bits, and formulas are shorter.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_ESTIMATEDMATH_H
#define FAD_LIB_CODEGEN_GPU_ESTIMATEDMATH_H

#include "../Math/DemandedPrecision.h"
#include "fad/Interfaces/Expr.h"

namespace mlir::fad {

/// 1 / x within 2 units in the last place, for an `x` whose reciprocal is
/// normal.
Expr estimateReciprocal(const Expr &x);

/// 2^(x * factor): 2^n times what is estimated for the rest, with n =
/// round(x * factor) where that leaves 2^n normal, so that neither digits of a
/// large product nor denormal numbers are lost.
Expr exponential(const Expr &x, double factor, FloatRange range);

/// 2^(x * factor + addend) for numbers that end up in 16 bits. A constant that
/// `x` is a product of is multiplied by `factor` beforehand.
Expr shortExponential(const Expr &x, double factor, double addend = 0);

/// erfc(x) * factor, with the exponential left to be replaced.
Expr complementaryError(const Expr &x, FloatRange range, double factor,
                        Precision digits);
/// erf(x), likewise.
Expr errorFunction(const Expr &x, Precision digits);
/// tanh(x), likewise.
Expr hyperbolicTangent(const Expr &x);

/// Whether the reciprocal of a number in `range` is normal, and the number not
/// zero.
bool hasNormalReciprocal(FloatRange range);

/// x / y, where that and `x` are finite and the reciprocal of `y` normal,
/// within 1 unit; where 16 bits count within 3, for any `x`.
Expr quotient(const Expr &x, const Expr &y, Precision digits);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_ESTIMATEDMATH_H
