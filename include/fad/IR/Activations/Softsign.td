//===- Softsign.td - A sigmoid without exponentials --------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_SoftsignOp : Fad_Activation<"softsign", [Fad_Composite]> {
  let summary = "x / (1 + |x|)";
  let description = [{
    Derivative: `1 / (1 + |x|)^2`, or `(1 - |y|)^2` from the result. Both are NaN
    where `x` is infinite, as in PyTorch.

    ```mlir
    %y = fad.softsign %x : f32
    ```
  }];
  let value = [{ return x / (1 + abs(x)); }];
  // NaN where the value is: the result does not show whether `x` is infinite.
  let derivative = [{
    Expr slope = square(1 / (1 + abs(x)));
    return slope + (x - x);
  }];
  let derivativeFromResult = [{ return saturating(square(1 - abs(y))); }];
  let spellings = [{ return {{{x / (1 + abs(x))}, Shared::raised}}; }];
  let time = "division";
  let references = [["softsign", "", "softsign", "x / (1 + abs(x))", "(1 / (1 + abs(x))) ** 2"]];
}
