//===- HardSigmoid.td - A sigmoid of three lines -----------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_HardSigmoidOp : Fad_Activation<"hardsigmoid"> {
  let summary = "min(max(x + 3, 0), 6) / 6";
  let description = [{
    Derivative: 1/6 where `-3 < x < 3`, else 0 (also at NaN).
    [Howard et al. 2019](https://arxiv.org/abs/1905.02244).

    ```mlir
    %y = fad.hardsigmoid %x : f32
    ```
  }];
  let value = [{ return min(max(x + 3, 0), 6) / 6; }];
  let derivative = [{
    Expr above = x > -3;
    return select(above & (x < 3), 1.0 / 6, 0);
  }];
  let spellings = [{ return {{{clamp(x + 3, 0, 6) / 6}, Shared::raised}}; }];
  let time = "arithmetic";
  let references = [["hardsigmoid", "", "hardsigmoid",
                     "where(x <= -3, 0, where(x >= 3, 1, x / 6 + 0.5))",
                     "where(abs(x) < 3, ones_like(x) / 6, 0)"]];
}
