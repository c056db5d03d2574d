//===- FadRules.cpp - Derivative rules of the fad dialect -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
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
// The comparisons, which decide about NaN, are those of PyTorch.

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
    auto [size, Phi, edge] = normal(x);
    Expr phi = M_2_SQRTPI * M_SQRT1_2 / 2 * gaussian(size, 0.5);
    Expr negative = x < 0;
    Expr slope = Phi + select(negative, -size, size) * phi;
    return select(x < -edge, 0, slope);
  }

  /// s + x * s * (1 - s) * v' with s = sigmoid(v), v = k * (x + c * x^3).
  static Expr dTanh(Expr x) {
    double k = 2 * std::sqrt(M_2_PI);
    double c = 0.044715;
    double edge = std::sqrt(2 * (underflow(x) + 8));
    return gate(x, edge, [&](Expr top) {
      Expr s2 = square(top);
      auto [s, complement] = sigmoid(top * (k + k * c * s2));
      return s * (1 + top * complement * (k + 3 * k * c * s2));
    });
  }
};

/// tanh(softplus(x)) is n / m with e = exp(x), n = e * (e + 2) and m = n + 2;
/// its derivative is 4 * e * (1 + e) / m^2.
struct MishRule : UnaryRule<MishRule, MishOp> {
  static Expr d(Expr x) {
    auto [top, e, n, m, value] = mish(x);
    Expr slope = 4 * (n - e) / square(m);
    return select(x < -underflow(x) - 8, 0, value + top * slope);
  }
};

} // namespace

void fad::registerFadRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FadDialect *) {
    attachRules<Relu, LeakyRelu, Elu, HardSigmoid, HardSwish, SigmoidRule,
                Softplus, Silu, Gelu, MishRule>(context);
    attachScatterAddRule(context);
  });
}
