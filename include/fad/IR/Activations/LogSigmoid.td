//===- LogSigmoid.td - The logarithm of the sigmoid --------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_LogSigmoidOp : Fad_Activation<"logsigmoid"> {
  let summary = "logarithm of the logistic function, -log(1 + exp(-x))";
  let description = [{
    Evaluated as `min(x, 0) - log1p(exp(-|x|))`. Derivative: `sigmoid(-x)`, or
    `1 - exp(y)` from the result.

    ```mlir
    %y = fad.logsigmoid %x : f32
    ```
  }];
  let value = [{
    Expr negative = min(x, 0);
    return negative - log1p(exp(-abs(x)));
  }];
  let derivative = [{ return select(x > underflow(x), 0, sigmoidAndComplement(x).complement); }];
  let derivativeFromResult = [{ return saturating(-expm1(y)); }];
  // Smooth, and NaN where x is, whatever the minimum is there.
  let spellings = [{
    return {{{min(x, 0, NaNs::keptOrDropped, Whole::smooth) - softplus(-abs(x))},
             Shared::kept},
            {{log(sigmoid(x)), log(1 / (1 + exp(-x)))}, Shared::raised}};
  }];
  let takesManyRegisters = 1;
  let references = [["logsigmoid", "", "logsigmoid",
                     "where(x < 0, x, 0) - log1p(exp(-abs(x)))", "sigmoid(-x)"]];
}
