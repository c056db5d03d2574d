//===- MathRules.cpp - Derivative rules of the math dialect ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Formulas.h"
#include "fad/Rules/Rules.h"
#include "fad/Rules/ScalarRules.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

namespace {

//===----------------------------------------------------------------------===//
// Exponentials, logarithms, powers
//===----------------------------------------------------------------------===//

struct Exp : UnaryRule<Exp, math::ExpOp> {
  static Expr d(Expr x) { return exp(x); }
  static Expr dFromResult(Expr y) { return y; }
};

struct Exp2 : UnaryRule<Exp2, math::Exp2Op> {
  static Expr d(Expr x) { return M_LN2 * exp2(x); }
  static Expr dFromResult(Expr y) { return M_LN2 * y; }
};

// y + 1 would lose the digits of exp(x) for very negative x.
struct ExpM1 : UnaryRule<ExpM1, math::ExpM1Op> {
  static Expr d(Expr x) { return exp(x); }
};

struct Log : UnaryRule<Log, math::LogOp> {
  static Expr d(Expr x) { return 1 / x; }
};

struct Log2 : UnaryRule<Log2, math::Log2Op> {
  static Expr d(Expr x) { return M_LOG2E / x; }
};

struct Log10 : UnaryRule<Log10, math::Log10Op> {
  static Expr d(Expr x) { return M_LOG10E / x; }
};

struct Log1p : UnaryRule<Log1p, math::Log1pOp> {
  static Expr d(Expr x) { return 1 / (1 + x); }
};

struct Sqrt : UnaryRule<Sqrt, math::SqrtOp> {
  static Expr d(Expr x) { return 0.5 / sqrt(x); }
  static Expr dFromResult(Expr y) { return 0.5 / y; }
};

struct Rsqrt : UnaryRule<Rsqrt, math::RsqrtOp> {
  static Expr d(Expr x) { return dFromResult(rsqrt(x)); }
  static Expr dFromResult(Expr y) { return -0.5 * (y * square(y)); }
};

struct Cbrt : UnaryRule<Cbrt, math::CbrtOp> {
  static Expr d(Expr x) { return dFromResult(cbrt(x)); }
  static Expr dFromResult(Expr y) { return 1 / (3 * square(y)); }
};

/// As in PyTorch, the exponent 0 gives the constant 1, and the base 0 with an
/// exponent that is not negative gives the constant 0, even where the formulas
/// are 0 * inf.
struct PowF : BinaryRule<PowF, math::PowFOp> {
  static Expr da(Expr a, Expr b) {
    Expr exponent = viewConstant(b);
    if (exponent.isConstant(0))
      return 0;
    Expr less = exponent - 1;
    Expr slope = exponent * pow(a, less);
    return select(equal(exponent, 0), 0, slope);
  }
  static Expr db(Expr a, Expr b) {
    Expr notNegative = b >= 0;
    return timesLog(pow(a, b), a, notNegative);
  }
  static Expr dbFromResult(Expr a, Expr, Expr y) {
    // A power of zero is infinite for a negative exponent.
    return timesLog(y, a, y <= 1);
  }

  static Expr timesLog(Expr y, Expr a, Expr notNegative) {
    Expr slope = y * log(a);
    return select(notNegative & equal(a, 0), 0, slope);
  }
};

/// `n * x^(n - 1)`, and 0 where `n` is 0.
struct FPowI : DerivativeOpInterface::ExternalModel<FPowI, math::FPowIOp> {
  Expr partial(Operation *, const Primal &at, unsigned,
               unsigned operand) const {
    if (operand == 1)
      return {};
    ExprBuilder &eb = at.builder;
    Value n = widen(eb.b, at.operands[1].getValue());
    Value zero = constant(eb.b, n.getType(), 0);
    Value less = decrement(eb.b, n);
    Expr factor(eb, arith::SIToFPOp::create(eb.b, eb.type, n));
    Expr power(eb, math::FPowIOp::create(eb.b, at.operands[0].getValue(), less,
                                         eb.fastmath));
    Expr isZero(eb,
                arith::CmpIOp::create(eb.b, arith::CmpIPredicate::eq, n, zero));
    return select(isZero, 0, factor * power);
  }

  /// `n` in a type in which `n - 1` exists: narrow integers wrap around.
  static Value widen(ImplicitLocOpBuilder &b, Value n) {
    if (n.getType().isIndex())
      return arith::IndexCastOp::create(b, b.getI64Type(), n);
    if (n.getType().getIntOrFloatBitWidth() < 32)
      return arith::ExtSIOp::create(b, b.getI32Type(), n);
    return n;
  }

  /// `n - 1`. The least integer stays: its power is 0, 1 or infinite in either
  /// case.
  static Value decrement(ImplicitLocOpBuilder &b, Value n) {
    APInt least = APInt::getSignedMinValue(n.getType().getIntOrFloatBitWidth());
    Value bound = constant(b, n.getType(), (least + 1).getSExtValue());
    Value bounded = arith::MaxSIOp::create(b, n, bound);
    Value one = constant(b, n.getType(), 1);
    return arith::SubIOp::create(b, bounded, one);
  }

  static Value constant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
};

//===----------------------------------------------------------------------===//
// Trigonometric and hyperbolic functions
//===----------------------------------------------------------------------===//

struct Sin : UnaryRule<Sin, math::SinOp> {
  static Expr d(Expr x) { return cos(x); }
};

struct Cos : UnaryRule<Cos, math::CosOp> {
  static Expr d(Expr x) { return -sin(x); }
};

/// Each result is the derivative of the other, but for a sign.
struct Sincos : DerivativeOpInterface::ExternalModel<Sincos, math::SincosOp> {
  Expr partial(Operation *, const Primal &at, unsigned result, unsigned) const {
    ExprBuilder &eb = at.builder;
    auto values =
        math::SincosOp::create(eb.b, at.operands[0].getValue(), eb.fastmath);
    return result == 0 ? Expr(eb, values.getCos()) : -Expr(eb, values.getSin());
  }
  Expr partialFromResult(Operation *, const Primal &at, unsigned result,
                         unsigned) const {
    return result == 0 ? at.results[1] : -at.results[0];
  }
};

struct Tan : UnaryRule<Tan, math::TanOp> {
  static Expr d(Expr x) { return 1 + square(tan(x)); }
  static Expr dFromResult(Expr y) { return 1 + square(y); }
};

struct Asin : UnaryRule<Asin, math::AsinOp> {
  static Expr d(Expr x) { return rsqrt(oneMinusSquare(x)); }
};

struct Acos : UnaryRule<Acos, math::AcosOp> {
  static Expr d(Expr x) { return -rsqrt(oneMinusSquare(x)); }
};

struct Atan : UnaryRule<Atan, math::AtanOp> {
  static Expr d(Expr x) { return 1 / (1 + square(x)); }
};

/// The angle of the point (b, a). As in PyTorch, it is constant at the origin.
struct Atan2 : BinaryRule<Atan2, math::Atan2Op> {
  static Expr da(Expr a, Expr b) { return overSquares(b, a); }
  static Expr db(Expr a, Expr b) { return -overSquares(a, b); }

  /// `p / (p^2 + q^2)` without a square that could overflow: both sides
  /// divided by the greater of `p` and `q`.
  static Expr overSquares(Expr p, Expr q) {
    Expr size = abs(p);
    Expr large = size >= abs(q);
    Expr greater = select(large, p, q);
    Expr lesser = select(large, q, p);
    Expr ratio = lesser / greater;
    Expr numerator = select(large, 1, ratio);
    Expr slope = numerator / (greater + lesser * ratio);
    return select(equal(greater, 0), 0, slope);
  }
};

struct Sinh : UnaryRule<Sinh, math::SinhOp> {
  static Expr d(Expr x) { return cosh(x); }
};

struct Cosh : UnaryRule<Cosh, math::CoshOp> {
  static Expr d(Expr x) { return sinh(x); }
};

/// 1 / cosh(x)^2 = 4e / (1 + e)^2 with e = exp(-2|x|).
struct Tanh : UnaryRule<Tanh, math::TanhOp> {
  static Expr d(Expr x) {
    Expr size = abs(x);
    Expr e = exp(-2 * size);
    Expr denominator = square(1 + e);
    Expr slope = 4 * e / denominator;
    return select(size > underflow(x) / 2 + 1, 0, slope);
  }
  static Expr dFromResult(Expr y) { return saturating(oneMinusSquare(y)); }
};

/// 1 / hypot(x, 1), with the greater of |x| and 1 taken out of the root.
struct Asinh : UnaryRule<Asinh, math::AsinhOp> {
  static Expr d(Expr x) {
    Expr size = abs(x);
    Expr greater = max(size, 1);
    Expr ratio = min(size, 1) / greater;
    return 1 / (greater * sqrt(1 + square(ratio)));
  }
};

struct Acosh : UnaryRule<Acosh, math::AcoshOp> {
  static Expr d(Expr x) {
    Expr root = sqrt(x - 1);
    return 1 / (root * sqrt(x + 1));
  }
};

struct Atanh : UnaryRule<Atanh, math::AtanhOp> {
  static Expr d(Expr x) { return 1 / oneMinusSquare(x); }
};

//===----------------------------------------------------------------------===//
// Error functions
//===----------------------------------------------------------------------===//

/// 2 / sqrt(pi) * exp(-x^2).
Expr slopeOfErf(Expr x) {
  Expr slope = M_2_SQRTPI * gaussian(x, 1);
  return select(abs(x) > std::sqrt(underflow(x) + 1), 0, slope);
}

struct Erf : UnaryRule<Erf, math::ErfOp> {
  static Expr d(Expr x) { return slopeOfErf(x); }
};

struct Erfc : UnaryRule<Erfc, math::ErfcOp> {
  static Expr d(Expr x) { return -slopeOfErf(x); }
};

//===----------------------------------------------------------------------===//
// Piecewise linear functions
//===----------------------------------------------------------------------===//

/// The sign of `x`; 0 for 0 and for NaN, as in PyTorch.
struct AbsF : UnaryRule<AbsF, math::AbsFOp> {
  static Expr d(Expr x) {
    Expr sign = select(x < 0, -1, 1);
    return select(differ(x, 0), sign, 0);
  }
};

/// |a| with the sign of `b`.
struct CopySign : BinaryRule<CopySign, math::CopySignOp> {
  static Expr da(Expr a, Expr b) {
    Expr sign = copysign(1, b);
    return sign * AbsF::d(a);
  }
  static Expr db(Expr, Expr) { return 0; }
};

struct Fma : TernaryRule<Fma, math::FmaOp> {
  static Expr da(Expr, Expr b, Expr) { return b; }
  static Expr db(Expr a, Expr, Expr) { return a; }
  static Expr dc(Expr, Expr, Expr) { return 1; }
};

/// `maximumf(minimumf(a, b), c)`, as the operation is documented and lowered:
/// the upper bound comes first. Bounds are inclusive: where `a` equals one,
/// `a` has the derivative, as in PyTorch.
struct ClampF : TernaryRule<ClampF, math::ClampFOp> {
  static Expr da(Expr a, Expr b, Expr c) {
    Expr below = a <= b;
    return select(below & (c <= a), 1, 0);
  }
  static Expr db(Expr a, Expr b, Expr c) {
    Expr above = b < a;
    return select(above & (c <= b), 1, 0);
  }
  static Expr dc(Expr a, Expr b, Expr c) {
    Expr below = a < c;
    return select(below | (b < c), 1, 0);
  }
};

} // namespace

void fad::registerMathRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachRules<Exp, Exp2, ExpM1, Log, Log2, Log10, Log1p, Sqrt, Rsqrt, Cbrt,
                PowF, FPowI>(context);
    attachRules<Sin, Cos, Sincos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh,
                Tanh, Asinh, Acosh, Atanh>(context);
    attachRules<Erf, Erfc>(context);
    attachRules<AbsF, CopySign, Fma, ClampF, StepRule<math::CeilOp>,
                StepRule<math::FloorOp>, StepRule<math::RoundOp>,
                StepRule<math::RoundEvenOp>, StepRule<math::TruncOp>>(context);
  });
}
