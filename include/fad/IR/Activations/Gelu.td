//===- Gelu.td - The Gaussian error linear unit ------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_GeluOp : Fad_Activation<"gelu", [Fad_Composite]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `approximate = none`: `x * Phi(x)` with the normal distribution function
    `Phi(x) = erfc(-x / sqrt(2)) / 2`; derivative `Phi(x) + x * phi(x)`.

    `approximate = tanh`: `x * sigmoid(2u)` with
    `u = sqrt(2/pi) * (x + 0.044715 * x^3)`, which equals
    `0.5 * x * (1 + tanh(u))`; derivative `s + 2 * x * s * (1 - s) * u'`.
    [Hendrycks and Gimpel 2016](https://arxiv.org/abs/1606.08415).

    ```mlir
    %y = fad.gelu %x : f32
    %z = fad.gelu %x approximate <tanh> : f32
    ```
  }];
  let parameters = (ins DefaultValuedAttr<Fad_GeluApproximationAttr,
                        "::mlir::fad::GeluApproximation::none">:$approximate);
  let parameterFormat = "(`approximate` $approximate^)?";
  let helpers = [{
    /// Phi(x) + x * phi(x) with the normal distribution Phi and its density phi.
    static Expr getExactSlope(const Expr &x) {
      auto [size, Phi, edge] = normal(x);
      Expr phi = M_2_SQRTPI * M_SQRT1_2 / 2 * gaussian(size, 0.5);
      Expr negative = x < 0;
      Expr slope = Phi + select(negative, -size, size) * phi;
      return select(x < -edge, 0, slope);
    }

    /// v = k * (x + c * x^3) is v(x) = x * (k + k * c * x^2).
    static constexpr double kCubic = 0.044715;
    static const double kScale = 2 * std::sqrt(M_2_PI);
    /// Where the sigmoid of v(-x) is zero.
    static double getEdge(const Expr &x) { return std::sqrt(2 * (underflow(x) + 8)); }

    /// s + x * s * (1 - s) * v' with s = sigmoid(v).
    static Expr getTanhSlope(const Expr &x) {
      return gate(x, getEdge(x), [&](Expr top) {
        Expr s2 = square(top);
        auto [s, complement] = sigmoidAndComplement(top * (kScale + kScale * kCubic * s2));
        return s * (1 + top * complement * (kScale + 3 * kScale * kCubic * s2));
      });
    }
  }];
  let value = [{
    if (getApproximate() == GeluApproximation::none)
      return x * normal(x).Phi;
    Expr top = min(x, getEdge(x));
    return x * sigmoid(top * (kScale + kScale * kCubic * square(top)));
  }];
  let derivative = [{
    bool isExact = getApproximate() == GeluApproximation::none;
    return isExact ? getExactSlope(x) : getTanhSlope(x);
  }];
  let spellings = [{
    auto raiseTo = [](GeluApproximation approximation) {
      return [=](OpBuilder &b, Location loc, const FormulaMatch &match) -> Value {
        return GeluOp::create(b, loc, match.x, approximation, match.fastmath);
      };
    };
    // 0.5 * (1 + tanh(u)) is sigmoid(2u).
    double scale = std::sqrt(2 / M_PI);
    Formula cubic = x + kCubic * x * x * x;
    Formula quadratic = 1 + kCubic * x * x;
    return {{{0.5 * x * (1 + erf(M_SQRT1_2 * x)), 0.5 * x * erfc(-M_SQRT1_2 * x)},
             Shared::raised, raiseTo(GeluApproximation::none)},
            {{0.5 * x * (1 + tanh(scale * cubic)), 0.5 * x * (1 + tanh(scale * x * quadratic)),
              x / (1 + exp(-2 * scale * cubic)), x / (1 + exp(-2 * scale * x * quadratic))},
             Shared::raised, raiseTo(GeluApproximation::tanh)},
            {{x * sigmoid(2 * scale * cubic), x * sigmoid(2 * scale * x * quadratic)},
             Shared::kept, raiseTo(GeluApproximation::tanh)}};
  }];
  let references = [
    ["gelu", "", "gelu", "x * normal(x)", "gate(normal(x), x, density(x))"],
    ["gelu_tanh", " approximate <tanh>", "gelu(approximate='tanh')",
     "x * sigmoid(cubic(x))",
     "gate(sigmoid(cubic(x)), x, times(sigmoid(cubic(x)) * sigmoid(-cubic(x)), slope_of_cubic(x)))"]];
}
