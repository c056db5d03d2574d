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

#include "fad/Codegen/Math/DemandedPrecision.h"
#include "fad/Interfaces/Expr.h"

namespace mlir::fad {

/// An operation of the math or arith dialect on f32, or vectors of it, with
/// facts about its operands and uses.
struct MathSite {
  Operation *op;
  /// The range of the last operand: the only one, a divisor or a bound.
  FloatRange range;
  /// The precision that uses of the result demand.
  Precision digits;
};

/// Whether `op` is a function that has an approximate formula in every context.
bool isFunction(Operation *op);

/// Whether a formula for `site.op` exists in its context.
bool hasFormula(const MathSite &site);

/// The result of `site.op`, which has a formula, by arithmetic, divisions and
/// exponentials.
Expr evaluateByArithmetic(const MathSite &site, ExprBuilder &eb);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_CPU_ARITHMETICMATH_H
