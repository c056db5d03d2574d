//===- Relu.td - The rectifier -----------------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_ReluOp : Fad_Activation<"relu", [Idempotent]> {
  let summary = "rectifier, max(x, 0)";
  let description = [{
    NaN stays NaN. Derivative: 0 where `x <= 0`, else 1, at NaN too, as in PyTorch.
    The result determines the derivative as well as the operand does.

    ```mlir
    %y = fad.relu %x : f32
    ```
  }];
  let value = [{ return max(x, 0); }];
  let derivative = [{ return select(x <= 0, 0, 1); }];
  let derivativeFromResult = [{ return getDerivativeAt(y); }];
  // A select that defines the value at 0, where there is no derivative, is raised
  // only if it agrees.
  let spellings = [{
    return {{{maximum(x, 0), select(greater(x, 0).orNaN(), x, 0)}, Shared::raised}};
  }];
  let time = "arithmetic";
  let references = [["relu", "", "relu", "where(x <= 0, 0, x)",
                     "where(x > 0, ones_like(x), 0)"]];
}
