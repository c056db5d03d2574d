//===- Elu.td - The exponential linear unit ----------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_EluOp : Fad_Activation<"elu", [Fad_Composite]> {
  let summary = "exponential linear unit, x where x > 0, else alpha * (exp(x) - 1)";
  let description = [{
    Evaluated with `expm1`. Derivative: `alpha * exp(x)` where `x <= 0`, else 1 (also at NaN).
    [Clevert et al. 2016](https://arxiv.org/abs/1511.07289).

    ```mlir
    %y = fad.elu %x : f32
    %z = fad.elu %x alpha 0.5 : f32
    ```
  }];
  let parameters = (ins DefaultValuedAttr<F64Attr, "1.0">:$alpha);
  let parameterFormat = "(`alpha` $alpha^)?";
  let value = [{ return select(x > 0, x, getAlpha().convertToDouble() * expm1(x)); }];
  let derivative = [{
    Expr slope = getAlpha().convertToDouble() * exp(x);
    return select(x <= 0, slope, 1);
  }];
  let derivativeFromResult = [{
    // Only a positive alpha keeps the sign of the operand.
    double alpha = getAlpha().convertToDouble();
    if (!(alpha > 0))
      return {};
    Expr slope = saturating(y + alpha);
    return select(y <= 0, slope, 1);
  }];
  let spellings = [{
    Formula alpha = parameter();
    // Programs that differentiate both branches keep exp from overflowing in the
    // one not taken.
    Formula below = either({x, min(x, 0)});
    return {{{select(greater(x, 0), x, alpha * expm1(below)),
              // Differentiable at 0, where both branches are 0.
              select(greater(x, 0).eitherWhenEqual(), x, expm1(below)),
              max(x, 0) + alpha * expm1(min(x, 0))},
             Shared::kept, "alpha"}};
  }];
  let takesManyRegisters = 1;
  let references = [["elu", "", "elu", "where(x <= 0, expm1(x), x)",
                     "where(x <= 0, exp(x), 1)"]];
}
