//===- Sigmoid.td - The logistic function ------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_SigmoidOp : Fad_Activation<"sigmoid"> {
  let summary = "logistic function, 1 / (1 + exp(-x))";
  let description = [{
    Evaluated through `exp(-|x|)`, so that neither side overflows. Derivative:
    `y * (1 - y)`, evaluated without cancellation for large `|x|`.

    ```mlir
    %y = fad.sigmoid %x : f32
    ```
  }];
  let value = [{ return sigmoid(x); }];
  let derivative = [{
    auto [s, complement] = sigmoidAndComplement(x);
    Expr slope = s * complement;
    return select(abs(x) > underflow(x), 0, slope);
  }];
  let derivativeFromResult = [{ return saturating(y * (1 - y)); }];
  let spellings = [{
    return {{{1 / (1 + exp(-x)), exp(x) / (1 + exp(x)), 0.5 * (1 + tanh(0.5 * x)),
              0.5 * tanh(0.5 * x) + 0.5},
             Shared::raised},
            // The first form again, for programs without a value for the negative
            // of the operand of exp.
            {{1 / (1 + exp(x))}, Shared::raised,
             [](OpBuilder &b, Location loc, const FormulaMatch &match) {
               Value negative = arith::NegFOp::create(b, loc, match.x, match.fastmath);
               return SigmoidOp::create(b, loc, negative, match.fastmath);
             }}};
  }];
  let references = [["sigmoid", "", "sigmoid", "sigmoid(x)", "sigmoid(x) * sigmoid(-x)"]];
}
