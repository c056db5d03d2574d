//===- Mish.td - x * tanh(softplus(x)) ---------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_MishOp : Fad_Activation<"mish", [Fad_Composite]> {
  let summary = "x * tanh(softplus(x))";
  let description = [{
    Evaluated through `exp(-|x|)` alone:
    `tanh(log(1 + e^x)) = (e^2x + 2e^x) / (e^2x + 2e^x + 2)`, without
    cancellation and without overflow. [Misra 2019](https://arxiv.org/abs/1908.08681).

    ```mlir
    %y = fad.mish %x : f32
    ```
  }];
  let helpers = [{
    namespace {
    /// `tanh(log(1 + exp(x)))`, without cancellation and without overflow: with
    /// `e = exp(top)`, `n = e * (e + 2)` and `m = n + 2` it is `n / m`. `top` is
    /// `x`, but where the value rounds to 1.
    struct Mish {
      explicit Mish(const Expr &x)
          // Above, the value rounds to 1 and its derivative to 0, and the square
          // of m is finite.
          : top(min(x, isF64(x) ? 40 : 20)), e(exp(top)), n(e * (e + 2)), m(n + 2),
            value(n / m) {}
      Expr top, e, n, m, value;
    };
    } // namespace
  }];
  let value = [{ return x * Mish(x).value; }];
  // With n / m as above, the derivative of that is 4 * e * (1 + e) / m^2.
  let derivative = [{
    Mish mish(x);
    Expr slope = 4 * (mish.n - mish.e) / square(mish.m);
    return select(x < -underflow(x) - 8, 0, mish.value + mish.top * slope);
  }];
  let spellings = [{
    // Above 20, tanh(softplus(x)) and tanh(x) are both 1 in every type.
    Formula softplus = call<SoftplusOp>(x, [](SoftplusOp op) {
      return !op.getThreshold() || op.getThreshold()->convertToDouble() >= 20;
    });
    return {{{x * tanh(softplus)}, Shared::kept}};
  }];
  let references = [["mish", "", "mish", "x * ratio(x)", "gate(ratio(x), x, slope_of_ratio(x))"]];
}
