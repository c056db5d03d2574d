//===- HardSwish.td - A swish of three pieces --------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_HardSwishOp : Fad_Activation<"hardswish", [Fad_Composite]> {
  let summary = "x * min(max(x + 3, 0), 6) / 6";
  let description = [{
    Derivative: 0 where `x <= -3`, `x / 3 + 1 / 2` where `-3 < x < 3`, else 1 (also at NaN).
    [Howard et al. 2019](https://arxiv.org/abs/1905.02244).

    ```mlir
    %y = fad.hardswish %x : f32
    ```
  }];
  let value = [{ return x * (min(max(x + 3, 0), 6) / 6); }];
  let derivative = [{
    Expr slope = x / 3 + 0.5;
    Expr above = select(x < 3, slope, 1);
    return select(x <= -3, 0, above);
  }];
  // Multiplied by x, a NaN that clamp drops is NaN all the same.
  let spellings = [{
    return {{{x * clamp(x + 3, 0, 6, NaNs::keptOrDropped) / 6, x * call<HardSigmoidOp>(x),
              select(greater(x, -3).orNaN(), select(less(x, 3), x * (x + 3) / 6, x), 0 * x)},
             Shared::kept}};
  }];
  let time = "arithmetic";
  let takesManyRegisters = 1;
  let references = [["hardswish", "", "hardswish",
                     "where(x <= -3, 0, where(x >= 3, x, x * (x + 3) / 6))",
                     "where(x <= -3, 0, where(x >= 3, 1, x / 3 + 0.5))"]];
}
