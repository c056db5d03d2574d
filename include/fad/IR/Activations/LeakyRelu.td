//===- LeakyRelu.td - The leaky rectifier ------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_LeakyReluOp : Fad_Activation<"leaky_relu"> {
  let summary = "leaky rectifier, x where x > 0, else slope * x";
  let description = [{
    Derivative: 1 where `x > 0`, else `slope`, at NaN too, as in PyTorch. If the
    slope is positive, the result determines the derivative as well as the operand
    does.

    ```mlir
    %y = fad.leaky_relu %x slope 0.01 : f32
    ```
  }];
  let parameters = (ins DefaultValuedAttr<F64Attr, "0.01">:$slope);
  let parameterFormat = "(`slope` $slope^)?";
  let value = [{ return select(x > 0, x, getSlope().convertToDouble() * x); }];
  let derivative = [{ return select(x > 0, 1, getSlope().convertToDouble()); }];
  // Only a positive slope keeps the sign of the operand.
  let derivativeFromResult = [{
    return getSlope().convertToDouble() > 0 ? getDerivativeAt(y) : Expr();
  }];
  let isIdentity = [{ return getSlope().convertToDouble() == 1; }];
  let spellings = [{
    Formula slope = parameter();
    return {{{select(greater(x, 0), x, slope * x), max(x, 0) + slope * min(x, 0)},
             Shared::raised, "slope"}};
  }];
  let time = "arithmetic";
  let references = [["leaky_relu", " slope 0.01", "leaky_relu", "where(x > 0, x, 0.01 * x)",
                     "where(x > 0, ones_like(x), 0.01)"]];
}
