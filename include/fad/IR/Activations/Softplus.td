//===- Softplus.td - log(1 + exp(x)) -----------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_SoftplusOp : Fad_Activation<"softplus"> {
  let summary = "softplus, log(1 + exp(x))";
  let description = [{
    Evaluated as `max(x, 0) + log1p(exp(-|x|))`. With `threshold`, the value is `x`
    where `x > threshold`, as in PyTorch's `softplus` with its default of 20.
    Derivative: `sigmoid(x)`, or 1 above the threshold.

    ```mlir
    %y = fad.softplus %x : f32
    %z = fad.softplus %x threshold 20.0 : f32
    ```
  }];
  let parameters = (ins OptionalAttr<F64Attr>:$threshold);
  let parameterFormat = "(`threshold` $threshold^)?";
  let value = [{
    Expr positive = max(x, 0);
    Expr y = positive + log1p(exp(-abs(x)));
    if (!getThreshold())
      return y;
    return select(x > getThreshold()->convertToDouble(), x, y);
  }];
  // sigmoid(x), which is also 1 - exp(-y).
  let derivative = [{
    Expr slope = sigmoidAndComplement(x).value;
    double zero = -underflow(x);
    if (getThreshold()) {
      double threshold = getThreshold()->convertToDouble();
      slope = select(x > threshold, 1, slope);
      zero = std::fmin(zero, threshold);
    }
    return select(x < zero, 0, slope);
  }];
  // Above the threshold the derivative is exactly 1.
  let derivativeFromResult = [{ return getThreshold() ? Expr() : -expm1(-y); }];
  let spellings = [{
    Formula threshold = parameter();
    return {{{log1p(exp(x)), log(1 + exp(x))}, Shared::raised},
            // Smooth, and NaN for NaN, whichever maximum is used.
            {{max(x, 0, NaNs::keptOrDropped, Whole::smooth) + softplus(-abs(x))},
             Shared::kept},
            {{select(greater(x, threshold), x, softplus(x))}, Shared::kept, "threshold"}};
  }];
  let takesManyRegisters = 1;
  // With the threshold that PyTorch has unless told otherwise.
  let references = [["softplus", " threshold 20.0", "softplus",
                     "where(x > 20, x, where(x < 0, 0, x) + log1p(exp(-abs(x))))",
                     "where(x > 20, 1, sigmoid(x))"]];
}
