//===- Expr.h - Scalar formulas ---------------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Builds scalar arithmetic from C++ expressions that read like formulas:
//
//   Expr s = 1 / (1 + exp(-x));
//   return s * (1 - s);
//
// Constants stay C++ numbers until they meet a value. `x + 0`, `x * 1`, `x * 0`
// are folded, so rules need no special cases.
// `0 * x = 0` holds even for infinite x: a zero in a formula is structural.
//
// Operators on constants alone compute in double precision, so the formula of a
// constant is its value.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_EXPR_H
#define FAD_INTERFACES_EXPR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace mlir::fad {

/// The insertion point, location, type and flags of emitted operations.
class ExprBuilder {
public:
  /// Operations are emitted at `builder`'s insertion point with location `loc`
  /// and carry `fastmath`. Constants that meet no value of another type take
  /// `type`, a floating-point type or a vector of one.
  ExprBuilder(OpBuilder &builder, Location loc, Type type,
              arith::FastMathFlags fastmath = arith::FastMathFlags::none)
      : b(loc, builder), type(type), fastmath(fastmath) {}

  ImplicitLocOpBuilder b;
  Type type;
  arith::FastMathFlags fastmath;
};

/// A scalar value, or a floating-point constant that has no operation yet, or
/// null.
class Expr {
public:
  /// A null expression.
  Expr() = default;
  /// A constant; it takes the type of its other operand.
  Expr(double constant) : number(constant) {}
  Expr(int constant) : number(constant) {}
  /// An existing value, of any type.
  Expr(ExprBuilder &builder, Value value) : builder(&builder), val(value) {}

  explicit operator bool() const { return val || number; }
  bool isConstant() const { return number.has_value(); }
  bool isConstant(double constant) const {
    return number && *number == constant;
  }
  double getConstant() const { return *number; }

  /// The value, or null for a constant or null expression.
  Value getValue() const { return val; }
  /// The value; `builder` materializes a constant, in `type` or, if that is
  /// null, in the builder's type.
  Value materialize(ExprBuilder &builder, Type type = {}) const;
  /// The builder, or null for a constant or null expression.
  ExprBuilder *getBuilder() const { return builder; }

private:
  ExprBuilder *builder = nullptr;
  Value val;
  std::optional<double> number;
};

Expr operator+(const Expr &lhs, const Expr &rhs);
Expr operator-(const Expr &lhs, const Expr &rhs);
Expr operator*(const Expr &lhs, const Expr &rhs);
Expr operator/(const Expr &lhs, const Expr &rhs);
Expr operator-(const Expr &operand);

/// Comparisons give an i1 expression, or a constant 0 or 1. They are false on
/// NaN.
Expr operator<(const Expr &lhs, const Expr &rhs);
Expr operator<=(const Expr &lhs, const Expr &rhs);
Expr operator>(const Expr &lhs, const Expr &rhs);
Expr operator>=(const Expr &lhs, const Expr &rhs);
Expr equal(const Expr &lhs, const Expr &rhs);
/// Less or greater.
Expr differ(const Expr &lhs, const Expr &rhs);
Expr isNaN(const Expr &operand);
/// Conjunction and disjunction of comparisons.
Expr operator&(const Expr &lhs, const Expr &rhs);
Expr operator|(const Expr &lhs, const Expr &rhs);
/// `condition ? ifTrue : ifFalse`.
Expr select(const Expr &condition, const Expr &ifTrue, const Expr &ifFalse);

/// `x`, as a constant `Expr` if it is an `arith.constant`, extended or not.
Expr viewConstant(const Expr &x);

/// A product in which a zero that an `arith.select` chooses stays zero whatever
/// the other factor is: `p * select(c, 0, t)` is `select(c, 0, p * t)`, and
/// `p * select(c, 0, select(d, 0, t))` is `select(c | d, 0, p * t)`. In such
/// products of tangents, an infinity in the branch not taken cannot turn a
/// derivative into NaN.
Expr tangentProduct(const Expr &partial, const Expr &tangent);

Expr abs(const Expr &x);
Expr acos(const Expr &x);
Expr acosh(const Expr &x);
Expr asin(const Expr &x);
Expr asinh(const Expr &x);
Expr atan(const Expr &x);
/// The angle of the point (`x`, `y`).
Expr atan2(const Expr &y, const Expr &x);
Expr atanh(const Expr &x);
Expr cbrt(const Expr &x);
Expr ceil(const Expr &x);
Expr copysign(const Expr &magnitude, const Expr &sign);
Expr cos(const Expr &x);
Expr cosh(const Expr &x);
Expr erf(const Expr &x);
Expr erfc(const Expr &x);
Expr exp(const Expr &x);
Expr exp2(const Expr &x);
Expr expm1(const Expr &x);
Expr floor(const Expr &x);
/// `a * b + c`, rounded once.
Expr fma(const Expr &a, const Expr &b, const Expr &c);
Expr log(const Expr &x);
Expr log10(const Expr &x);
Expr log1p(const Expr &x);
Expr log2(const Expr &x);
Expr max(const Expr &lhs, const Expr &rhs);
Expr min(const Expr &lhs, const Expr &rhs);
/// `base` to the power of `exponent`; a constant exponent of 0, 1 or 2 needs no
/// power.
Expr pow(const Expr &base, const Expr &exponent);
/// The remainder of the division truncated towards zero, with the sign of
/// `lhs`; it is exact.
Expr rem(const Expr &lhs, const Expr &rhs);
/// Halves are rounded away from zero.
Expr round(const Expr &x);
/// Halves are rounded to the even number.
Expr roundeven(const Expr &x);
Expr rsqrt(const Expr &x);
Expr sin(const Expr &x);
Expr sinh(const Expr &x);
Expr sqrt(const Expr &x);
Expr square(const Expr &x);
Expr tan(const Expr &x);
Expr tanh(const Expr &x);
Expr trunc(const Expr &x);

/// `x` extended or rounded to `type`, a floating-point type or a vector of one.
Expr convert(const Expr &x, Type type);

} // namespace mlir::fad

#endif // FAD_INTERFACES_EXPR_H
