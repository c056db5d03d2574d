//===- HardTanh.td - A hyperbolic tangent of three lines ---*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_HardTanhOp : Fad_Activation<"hardtanh", [Idempotent]> {
  let summary = "min(max(x, -1), 1)";
  let description = [{
    NaN stays NaN. Derivative: 0 where `x <= -1` or `x >= 1`, else 1, at NaN too,
    as in PyTorch. The result determines the derivative as well as the operand does.

    ```mlir
    %y = fad.hardtanh %x : f32
    ```
  }];
  let value = [{ return min(max(x, -1), 1); }];
  let derivative = [{
    Expr below = x <= -1;
    return select(below | (x >= 1), 0, 1);
  }];
  let derivativeFromResult = [{ return getDerivativeAt(y); }];
  // A select that states what happens at -1 and 1, where there is no derivative,
  // is raised only where it agrees.
  let spellings = [{
    Formula below = select(less(x, 1).orNaN(), x, 1);
    Formula above = select(greater(x, -1).orNaN(), x, -1);
    return {{{select(greater(x, -1).orNaN(), below, -1),
              select(less(x, 1).orNaN(), above, 1)},
             Shared::raised}};
  }];
  let time = "arithmetic";
  let references = [["hardtanh", "", "hardtanh", "where(x <= -1, -1, where(x >= 1, 1, x))",
                     "where(abs(x) < 1, ones_like(x), 0)"]];
}
