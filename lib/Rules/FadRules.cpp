//===- FadRules.cpp - Derivative rules of the fad dialect -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScatterAddRule.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/Formulas.h"
#include "fad/Rules/Rules.h"
#include "fad/Rules/ScalarRules.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

namespace {

//===----------------------------------------------------------------------===//
// Piecewise activations
//===----------------------------------------------------------------------===//
//
// The comparisons are those of PyTorch, which decide what becomes of NaN.

struct Relu : UnaryRule<Relu, ReluOp> {
  static Expr d(Expr x) { return select(x <= 0, 0, 1); }
  static Expr dFromResult(Expr y) { return d(y); }
};

struct LeakyRelu : UnaryRule<LeakyRelu, LeakyReluOp> {
  static Expr d(LeakyReluOp op, Expr x) {
    return select(x > 0, 1, op.getSlope().convertToDouble());
  }
  static Expr dFromResult(LeakyReluOp op, Expr y) {
    // Only a positive slope keeps the sign of the operand.
    return op.getSlope().convertToDouble() > 0 ? d(op, y) : Expr();
  }
};

struct Elu : UnaryRule<Elu, EluOp> {
  static Expr d(EluOp op, Expr x) {
    Expr slope = op.getAlpha().convertToDouble() * exp(x);
    return select(x <= 0, slope, 1);
  }
  static Expr dFromResult(EluOp op, Expr y) {
    // Only a positive alpha keeps the sign of the operand.
    double alpha = op.getAlpha().convertToDouble();
    if (!(alpha > 0))
      return {};
    Expr slope = saturating(y + alpha);
    return select(y <= 0, slope, 1);
  }
};

struct HardSigmoid : UnaryRule<HardSigmoid, HardSigmoidOp> {
  static Expr d(Expr x) {
    Expr above = x > -3;
    return select(above & (x < 3), 1.0 / 6, 0);
  }
};

struct HardSwish : UnaryRule<HardSwish, HardSwishOp> {
  static Expr d(Expr x) {
    Expr slope = x / 3 + 0.5;
    Expr above = select(x < 3, slope, 1);
    return select(x <= -3, 0, above);
  }
};

//===----------------------------------------------------------------------===//
// Smooth activations
//===----------------------------------------------------------------------===//

/// s * (1 - s).
struct SigmoidRule : UnaryRule<SigmoidRule, SigmoidOp> {
  static Expr d(Expr x) {
    auto [s, complement] = sigmoid(x);
    Expr slope = s * complement;
    return select(abs(x) > underflow(x), 0, slope);
  }
  static Expr dFromResult(Expr y) { return saturating(y * (1 - y)); }
};

/// sigmoid(x), which is also 1 - exp(-y).
struct Softplus : UnaryRule<Softplus, SoftplusOp> {
  static Expr d(SoftplusOp op, Expr x) {
    Expr slope = sigmoid(x).value;
    double zero = -underflow(x);
    if (op.getThreshold()) {
      double threshold = op.getThreshold()->convertToDouble();
      slope = select(x > threshold, 1, slope);
      zero = std::fmin(zero, threshold);
    }
    return select(x < zero, 0, slope);
  }
  static Expr dFromResult(SoftplusOp op, Expr y) {
    // Above the threshold the derivative is exactly 1.
    return op.getThreshold() ? Expr() : -expm1(-y);
  }
};

/// An activation `x * f(x)` with `f` growing from 0 to 1: its derivative
/// `f + x * f'` is 0 below `-edge`, and `x` may be taken for `edge` above
/// it, where `f'` is zero but `x` may be infinite.
template <typename Formula> Expr gate(Expr x, double edge, Formula formula) {
  Expr slope = formula(min(x, edge));
  return select(x < -edge, 0, slope);
}

/// s + x * s * (1 - s) with s = sigmoid(x).
struct Silu : UnaryRule<Silu, SiluOp> {
  static Expr d(Expr x) {
    auto [s, complement] = sigmoid(x);
    return gate(x, underflow(x) + 8, [&, s = s, c = complement](Expr top) {
      return s * (1 + top * c);
    });
  }
};

struct Gelu : UnaryRule<Gelu, GeluOp> {
  static Expr d(GeluOp op, Expr x) {
    bool exact = op.getApproximate() == GeluApproximation::none;
    return exact ? dExact(x) : dTanh(x);
  }

  /// Phi(x) + x * phi(x) with the normal distribution Phi and its density phi.
  static Expr dExact(Expr x) {
    Expr Phi = 0.5 * erfc(x * -M_SQRT1_2);
    Expr phi = M_2_SQRTPI * M_SQRT1_2 / 2 * gaussian(x, 0.5);
    return gate(x, edge(x), [&](Expr top) { return Phi + top * phi; });
  }

  /// s + x * s * (1 - s) * v' with s = sigmoid(v), v = k * (x + c * x^3).
  static Expr dTanh(Expr x) {
    double k = 2 * std::sqrt(M_2_PI);
    double c = 0.044715;
    auto [s, complement] = sigmoid(x * (k + k * c * square(x)));
    return gate(x, edge(x), [&, s = s, r = complement](Expr top) {
      Expr slope = k + 3 * k * c * square(top);
      return s * (1 + top * r * slope);
    });
  }

  /// exp(-edge^2 / 2) is zero, even times `edge`.
  static double edge(Expr x) { return std::sqrt(2 * (underflow(x) + 8)); }
};

/// With e = exp(-|x|): tanh(softplus(x)) is n / m, and its derivative r / m^2.
struct Mish : UnaryRule<Mish, MishOp> {
  static Expr d(Expr x) {
    Expr negative = x < 0;
    Expr e = exp(-abs(x));
    Expr product = e * (e + 2);
    Expr n = select(negative, product, 1 + 2 * e);
    Expr m = n + select(negative, 2, 2 * square(e));
    Expr scale = 4 * select(negative, e, square(e));
    Expr r = scale * (1 + e);
    Expr value = n / m;
    Expr slope = r / square(m);
    return gate(x, underflow(x) + 8,
                [&](Expr top) { return value + top * slope; });
  }
};

} // namespace

void fad::registerFadRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FadDialect *) {
    attachRules<Relu, LeakyRelu, Elu, HardSigmoid, HardSwish, SigmoidRule,
                Softplus, Silu, Gelu, Mish>(context);
    attachScatterAddRule(context);
  });
}
