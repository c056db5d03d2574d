//===- Expr.cpp - Scalar formulas -----------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Expr.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

Value Expr::materialize(ExprBuilder &eb, Type type) const {
  if (val)
    return val;
  assert(number && "a null expression has no value");
  if (!type)
    type = eb.type;
  TypedAttr attr = eb.b.getFloatAttr(getElementTypeOrSelf(type), *number);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(eb.b, attr);
}

/// The builder that at least one of the operands brings along.
static ExprBuilder &builderOf(const Expr &lhs, const Expr &rhs) {
  assert((lhs.getBuilder() || rhs.getBuilder()) && "two constants");
  return lhs.getBuilder() ? *lhs.getBuilder() : *rhs.getBuilder();
}

/// The type that both operands have once constants are materialized.
static Type commonType(const Expr &lhs, const Expr &rhs) {
  if (Value v = lhs.getValue())
    return v.getType();
  return rhs.getValue().getType();
}

using UnaryFunction = double (*)(double);
using BinaryFunction = double (*)(double, double);

/// Emits `OpTy`, or evaluates `function` if the operands are constants.
template <typename OpTy>
static Expr unary(const Expr &x, UnaryFunction function) {
  if (x.isConstant())
    return function(x.getConstant());
  ExprBuilder &eb = *x.getBuilder();
  return Expr(eb, OpTy::create(eb.b, x.getValue(), eb.fastmath));
}

template <typename OpTy>
static Expr binary(const Expr &lhs, const Expr &rhs, BinaryFunction function) {
  if (lhs.isConstant() && rhs.isConstant())
    return function(lhs.getConstant(), rhs.getConstant());
  ExprBuilder &eb = builderOf(lhs, rhs);
  Type type = commonType(lhs, rhs);
  Value a = lhs.materialize(eb, type);
  Value b = rhs.materialize(eb, type);
  return Expr(eb, OpTy::create(eb.b, a, b, eb.fastmath));
}

Expr fad::operator+(const Expr &lhs, const Expr &rhs) {
  if (lhs.isConstant(0))
    return rhs;
  if (rhs.isConstant(0))
    return lhs;
  return binary<arith::AddFOp>(lhs, rhs,
                               [](double a, double b) { return a + b; });
}

Expr fad::operator-(const Expr &lhs, const Expr &rhs) {
  if (lhs.isConstant(0))
    return -rhs;
  if (rhs.isConstant(0))
    return lhs;
  return binary<arith::SubFOp>(lhs, rhs,
                               [](double a, double b) { return a - b; });
}

Expr fad::operator*(const Expr &lhs, const Expr &rhs) {
  if (lhs.isConstant() && rhs.isConstant())
    return lhs.getConstant() * rhs.getConstant();
  if (lhs.isConstant(0) || rhs.isConstant(0))
    return 0;
  if (lhs.isConstant(1))
    return rhs;
  if (rhs.isConstant(1))
    return lhs;
  if (lhs.isConstant(-1))
    return -rhs;
  if (rhs.isConstant(-1))
    return -lhs;
  return binary<arith::MulFOp>(lhs, rhs,
                               [](double a, double b) { return a * b; });
}

Expr fad::operator/(const Expr &lhs, const Expr &rhs) {
  if (lhs.isConstant(0) && !rhs.isConstant())
    return 0;
  if (rhs.isConstant(1))
    return lhs;
  return binary<arith::DivFOp>(lhs, rhs,
                               [](double a, double b) { return a / b; });
}

Expr fad::operator-(const Expr &operand) {
  return unary<arith::NegFOp>(operand, [](double x) { return -x; });
}

static Expr compare(arith::CmpFPredicate predicate, const Expr &lhs,
                    const Expr &rhs) {
  if (lhs.isConstant() && rhs.isConstant())
    return arith::applyCmpPredicate(predicate, APFloat(lhs.getConstant()),
                                    APFloat(rhs.getConstant()));
  ExprBuilder &eb = builderOf(lhs, rhs);
  Type type = commonType(lhs, rhs);
  Value a = lhs.materialize(eb, type);
  Value b = rhs.materialize(eb, type);
  return Expr(eb, arith::CmpFOp::create(eb.b, predicate, a, b));
}

Expr fad::operator<(const Expr &lhs, const Expr &rhs) {
  return compare(arith::CmpFPredicate::OLT, lhs, rhs);
}
Expr fad::operator<=(const Expr &lhs, const Expr &rhs) {
  return compare(arith::CmpFPredicate::OLE, lhs, rhs);
}
Expr fad::operator>(const Expr &lhs, const Expr &rhs) {
  return compare(arith::CmpFPredicate::OGT, lhs, rhs);
}
Expr fad::operator>=(const Expr &lhs, const Expr &rhs) {
  return compare(arith::CmpFPredicate::OGE, lhs, rhs);
}
Expr fad::equal(const Expr &lhs, const Expr &rhs) {
  return compare(arith::CmpFPredicate::OEQ, lhs, rhs);
}
Expr fad::differ(const Expr &lhs, const Expr &rhs) {
  return compare(arith::CmpFPredicate::ONE, lhs, rhs);
}
Expr fad::isNaN(const Expr &operand) {
  return compare(arith::CmpFPredicate::UNO, operand, operand);
}

Expr fad::operator&(const Expr &lhs, const Expr &rhs) {
  if (lhs.isConstant())
    return lhs.isConstant(0) ? lhs : rhs;
  if (rhs.isConstant())
    return rhs & lhs;
  ExprBuilder &eb = builderOf(lhs, rhs);
  return Expr(eb, arith::AndIOp::create(eb.b, lhs.getValue(), rhs.getValue()));
}

Expr fad::operator|(const Expr &lhs, const Expr &rhs) {
  if (lhs.isConstant())
    return lhs.isConstant(0) ? rhs : lhs;
  if (rhs.isConstant())
    return rhs | lhs;
  ExprBuilder &eb = builderOf(lhs, rhs);
  return Expr(eb, arith::OrIOp::create(eb.b, lhs.getValue(), rhs.getValue()));
}

Expr fad::select(const Expr &condition, const Expr &ifTrue,
                 const Expr &ifFalse) {
  if (condition.isConstant())
    return condition.isConstant(0) ? ifFalse : ifTrue;
  if (ifTrue.isConstant() && ifFalse.isConstant(ifTrue.getConstant()))
    return ifTrue;
  if (ifTrue.getValue() && ifTrue.getValue() == ifFalse.getValue())
    return ifTrue;
  ExprBuilder &eb = *condition.getBuilder();
  Type type = ifTrue.getValue() || ifFalse.getValue()
                  ? commonType(ifTrue, ifFalse)
                  : eb.type;
  Value a = ifTrue.materialize(eb, type);
  Value b = ifFalse.materialize(eb, type);
  return Expr(eb, arith::SelectOp::create(eb.b, condition.getValue(), a, b));
}

Expr fad::viewConstant(const Expr &x) {
  if (!x.getValue())
    return x;
  if (auto extension = x.getValue().getDefiningOp<arith::ExtFOp>()) {
    Expr narrow = viewConstant(Expr(*x.getBuilder(), extension.getIn()));
    return narrow.isConstant() ? narrow : x;
  }
  FloatAttr scalar;
  if (matchPattern(x.getValue(), m_Constant(&scalar)))
    return scalar.getValueAsDouble();
  DenseElementsAttr dense;
  if (matchPattern(x.getValue(), m_Constant(&dense)) && dense.isSplat() &&
      isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<FloatAttr>().getValueAsDouble();
  return x;
}

/// The negation of `condition`, an i1.
static Expr negate(const Expr &condition) {
  ExprBuilder &eb = *condition.getBuilder();
  Value all = arith::ConstantOp::create(
      eb.b, eb.b.getOneAttr(condition.getValue().getType()));
  return Expr(eb, arith::XOrIOp::create(eb.b, condition.getValue(), all));
}

namespace {
/// The condition under which a select chooses a constant zero.
struct ZeroChoice {
  /// Null if no zero is chosen.
  Expr condition;
  /// Whether the zero is chosen if `condition` holds, or if it does not.
  bool ifTrue = false;

  /// Adds the condition of `other`.
  void add(ZeroChoice other);
};
} // namespace

void ZeroChoice::add(ZeroChoice other) {
  if (!condition) {
    *this = other;
    return;
  }
  if (other.ifTrue != ifTrue)
    other.condition = negate(other.condition);
  else if (other.condition.getValue() == condition.getValue())
    return;
  condition =
      ifTrue ? condition | other.condition : condition & other.condition;
}

/// `x` without nested selects that have a constant zero on one side; their
/// conditions are added to `zero`.
static Expr stripZeros(Expr x, ZeroChoice &zero) {
  while (x.getValue()) {
    auto op = x.getValue().getDefiningOp<arith::SelectOp>();
    if (!op)
      break;
    ExprBuilder &eb = *x.getBuilder();
    Expr ifTrue = viewConstant(Expr(eb, op.getTrueValue()));
    Expr ifFalse = viewConstant(Expr(eb, op.getFalseValue()));
    if (!ifTrue.isConstant(0) && !ifFalse.isConstant(0))
      break;
    zero.add({Expr(eb, op.getCondition()), ifTrue.isConstant(0)});
    x = ifTrue.isConstant(0) ? ifFalse : ifTrue;
  }
  return x;
}

Expr fad::tangentProduct(const Expr &partial, const Expr &tangent) {
  if (partial.isConstant(0) || tangent.isConstant(0))
    return 0;
  if (partial.isConstant() || tangent.isConstant())
    return partial * tangent;
  // One select however many there were: the next product finds it again.
  ZeroChoice zero;
  Expr ofTangent = stripZeros(tangent, zero),
       ofPartial = stripZeros(partial, zero);
  Expr product = ofPartial * ofTangent;
  if (!zero.condition)
    return product;
  return zero.ifTrue ? select(zero.condition, 0, product)
                     : select(zero.condition, product, 0);
}

Expr fad::abs(const Expr &x) { return unary<math::AbsFOp>(x, std::fabs); }
Expr fad::acos(const Expr &x) { return unary<math::AcosOp>(x, std::acos); }
Expr fad::acosh(const Expr &x) { return unary<math::AcoshOp>(x, std::acosh); }
Expr fad::asin(const Expr &x) { return unary<math::AsinOp>(x, std::asin); }
Expr fad::asinh(const Expr &x) { return unary<math::AsinhOp>(x, std::asinh); }
Expr fad::atan(const Expr &x) { return unary<math::AtanOp>(x, std::atan); }
Expr fad::atanh(const Expr &x) { return unary<math::AtanhOp>(x, std::atanh); }
Expr fad::cbrt(const Expr &x) { return unary<math::CbrtOp>(x, std::cbrt); }
Expr fad::ceil(const Expr &x) { return unary<math::CeilOp>(x, std::ceil); }
Expr fad::cos(const Expr &x) { return unary<math::CosOp>(x, std::cos); }
Expr fad::cosh(const Expr &x) { return unary<math::CoshOp>(x, std::cosh); }
Expr fad::erf(const Expr &x) { return unary<math::ErfOp>(x, std::erf); }
Expr fad::erfc(const Expr &x) { return unary<math::ErfcOp>(x, std::erfc); }
Expr fad::exp(const Expr &x) { return unary<math::ExpOp>(x, std::exp); }
Expr fad::exp2(const Expr &x) { return unary<math::Exp2Op>(x, std::exp2); }
Expr fad::expm1(const Expr &x) { return unary<math::ExpM1Op>(x, std::expm1); }
Expr fad::floor(const Expr &x) { return unary<math::FloorOp>(x, std::floor); }
Expr fad::log(const Expr &x) { return unary<math::LogOp>(x, std::log); }
Expr fad::log10(const Expr &x) { return unary<math::Log10Op>(x, std::log10); }
Expr fad::log1p(const Expr &x) { return unary<math::Log1pOp>(x, std::log1p); }
Expr fad::log2(const Expr &x) { return unary<math::Log2Op>(x, std::log2); }
Expr fad::round(const Expr &x) { return unary<math::RoundOp>(x, std::round); }
Expr fad::roundeven(const Expr &x) {
  return unary<math::RoundEvenOp>(x, std::nearbyint);
}
Expr fad::rsqrt(const Expr &x) {
  return unary<math::RsqrtOp>(x, [](double x) { return 1 / std::sqrt(x); });
}
Expr fad::sin(const Expr &x) { return unary<math::SinOp>(x, std::sin); }
Expr fad::sinh(const Expr &x) { return unary<math::SinhOp>(x, std::sinh); }
Expr fad::sqrt(const Expr &x) { return unary<math::SqrtOp>(x, std::sqrt); }
Expr fad::square(const Expr &x) { return x * x; }
Expr fad::tan(const Expr &x) { return unary<math::TanOp>(x, std::tan); }
Expr fad::tanh(const Expr &x) { return unary<math::TanhOp>(x, std::tanh); }
Expr fad::trunc(const Expr &x) { return unary<math::TruncOp>(x, std::trunc); }

Expr fad::atan2(const Expr &y, const Expr &x) {
  return binary<math::Atan2Op>(y, x, std::atan2);
}
Expr fad::copysign(const Expr &magnitude, const Expr &sign) {
  return binary<math::CopySignOp>(magnitude, sign, std::copysign);
}
Expr fad::max(const Expr &lhs, const Expr &rhs) {
  return binary<arith::MaximumFOp>(lhs, rhs, [](double a, double b) {
    bool takesFirst = a > b || (a == b && !std::signbit(a));
    return takesFirst || std::isnan(a) ? a : b;
  });
}
Expr fad::min(const Expr &lhs, const Expr &rhs) {
  return binary<arith::MinimumFOp>(lhs, rhs, [](double a, double b) {
    bool takesFirst = a < b || (a == b && std::signbit(a));
    return takesFirst || std::isnan(a) ? a : b;
  });
}
Expr fad::pow(const Expr &base, const Expr &exponent) {
  if (exponent.isConstant(0))
    return 1;
  if (exponent.isConstant(1))
    return base;
  if (exponent.isConstant(2))
    return square(base);
  return binary<math::PowFOp>(base, exponent, std::pow);
}
Expr fad::rem(const Expr &lhs, const Expr &rhs) {
  return binary<arith::RemFOp>(lhs, rhs, std::fmod);
}

Expr fad::fma(const Expr &a, const Expr &b, const Expr &c) {
  if (a.isConstant(0) || b.isConstant(0))
    return c;
  if ((a.isConstant() && b.isConstant()) || c.isConstant(0))
    return a * b + c;
  ExprBuilder &eb = builderOf(a, b);
  Type type = commonType(a, b);
  Value x = a.materialize(eb, type);
  Value y = b.materialize(eb, type);
  Value z = c.materialize(eb, type);
  return Expr(eb, math::FmaOp::create(eb.b, x, y, z, eb.fastmath));
}

Expr fad::convert(const Expr &x, Type type) {
  if (!x.getValue() || x.getValue().getType() == type)
    return x;
  ExprBuilder &eb = *x.getBuilder();
  unsigned from = getElementTypeOrSelf(x.getValue()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from < to)
    return Expr(eb, arith::ExtFOp::create(eb.b, type, x.getValue()));
  return Expr(eb, arith::TruncFOp::create(eb.b, type, x.getValue()));
}
