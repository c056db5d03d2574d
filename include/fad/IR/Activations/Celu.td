//===- Celu.td - The continuously differentiable ELU -------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_NonzeroAttr : ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"!::llvm::cast<::mlir::FloatAttr>($_self).getValue().isZero()">,
    "that is not zero">]>;

def Fad_CeluOp : Fad_Activation<"celu", [Fad_Composite]> {
  let summary = "continuously differentiable exponential linear unit, "
                "x where x > 0, else alpha * (exp(x / alpha) - 1)";
  let description = [{
    Evaluated with `expm1`. Derivative: `exp(x / alpha)` where `x <= 0`, else 1 (also
    at NaN). [Barron 2017](https://arxiv.org/abs/1704.07483).

    ```mlir
    %y = fad.celu %x : f32
    %z = fad.celu %x alpha 2.0 : f32
    ```
  }];
  let parameters = (ins DefaultValuedAttr<Fad_NonzeroAttr, "1.0">:$alpha);
  let parameterFormat = "(`alpha` $alpha^)?";
  let value = [{
    double alpha = getAlpha().convertToDouble();
    return select(x > 0, x, alpha * expm1(x / alpha));
  }];
  let derivative = [{
    Expr slope = exp(x / getAlpha().convertToDouble());
    return select(x <= 0, slope, 1);
  }];
  let derivativeFromResult = [{
    // Only a positive alpha keeps the sign of the operand.
    double alpha = getAlpha().convertToDouble();
    if (!(alpha > 0))
      return {};
    Expr slope = saturating(y / alpha + 1);
    return select(y <= 0, slope, 1);
  }];
  let spellings = [{
    Formula alpha = parameter(), below = either({x, min(x, 0)});
    return {{{select(greater(x, 0), x, alpha * expm1(below / alpha)),
              max(x, 0) + alpha * expm1(min(x, 0) / alpha)},
             Shared::kept, "alpha"}};
  }];
  let takesManyRegisters = 1;
  let references = [["celu", " alpha 2.0", "celu(alpha=2.0)",
                     "where(x <= 0, 2 * expm1(x / 2), x)", "where(x <= 0, exp(x / 2), 1)"]];
}
