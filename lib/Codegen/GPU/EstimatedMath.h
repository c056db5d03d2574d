//===- EstimatedMath.h - Functions by the GPU's estimates -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Formulas of fad-approximate-gpu-math, shorter ones for numbers that end up in
// 16 bits.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_ESTIMATEDMATH_H
#define FAD_LIB_CODEGEN_GPU_ESTIMATEDMATH_H

#include "fad/Codegen/Math/DemandedPrecision.h"
#include "fad/Interfaces/Expr.h"

namespace mlir::fad {

/// 1 / x within 2 units in the last place, if the reciprocal is normal.
Expr estimateReciprocal(const Expr &x);

/// 2^(x * factor): 2^n times the estimate of the rest, with n = round(x *
/// factor) if 2^n is normal then, which preserves the digits of a large product
/// and denormal numbers.
Expr exponential(const Expr &x, double factor, FloatRange range);

/// 2^(x * factor + addend) for numbers that end up in 16 bits. A constant
/// factor of `x` is multiplied by `factor` at compile time.
Expr shortExponential(const Expr &x, double factor, double addend = 0);

/// erfc(x) * factor, whose exponential is not expanded yet.
Expr complementaryError(const Expr &x, FloatRange range, double factor,
                        Precision digits);
/// erf(x), whose exponential is not expanded yet.
Expr errorFunction(const Expr &x, Precision digits);
/// tanh(x), whose exponential is not expanded yet.
Expr hyperbolicTangent(const Expr &x);

/// Whether numbers in `range` are not zero and have normal reciprocals.
bool hasNormalReciprocal(FloatRange range);

/// x / y, if that and `x` are finite and the reciprocal of `y` is normal,
/// within 1 unit; within 3 units, and for any `x`, if 16 bits are demanded.
Expr quotient(const Expr &x, const Expr &y, Precision digits);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_ESTIMATEDMATH_H
