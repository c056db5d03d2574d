//===- ArithmeticMath.h - Functions of f32 by arithmetic --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Formulas of fad-approximate-math.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_CPU_ARITHMETICMATH_H
#define FAD_LIB_CODEGEN_CPU_ARITHMETICMATH_H

#include "../Math/DemandedPrecision.h"
#include "fad/Interfaces/Expr.h"

namespace mlir::fad {

/// An operation of the math or arith dialect on f32, or vectors of it, and what
/// is known of it.
struct MathSite {
  Operation *op;
  /// Where the last operand lies: the only one, a divisor or a bound.
  FloatRange range;
  /// What the result is used for.
  Precision digits;
};

/// Whether `op` is one of the functions that have a formula wherever they
/// stand, which errs.
bool isFunction(Operation *op);

/// Whether there is a formula for `site.op` where it stands.
bool hasFormula(const MathSite &site);

/// The same as `site.op`, which has a formula, by arithmetic, divisions and
/// exponentials.
Expr evaluateByArithmetic(const MathSite &site, ExprBuilder &eb);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_CPU_ARITHMETICMATH_H
