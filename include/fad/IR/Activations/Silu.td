//===- Silu.td - The sigmoid linear unit -------------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

def Fad_SiluOp : Fad_Activation<"silu", [Fad_Composite]> {
  let summary = "sigmoid linear unit (Swish), x * sigmoid(x)";
  let description = [{
    Derivative: `s * (1 + x * (1 - s))` with `s = sigmoid(x)`.
    [Ramachandran et al. 2017](https://arxiv.org/abs/1710.05941).

    ```mlir
    %y = fad.silu %x : f32
    ```
  }];
  let value = [{ return x * sigmoid(x); }];
  let derivative = [{
    auto [s, complement] = sigmoidAndComplement(x);
    return gate(x, underflow(x) + 8,
                [&, s = s, c = complement](Expr top) { return s * (1 + top * c); });
  }];
  let spellings = [{
    return {{{x * sigmoid(x)}, Shared::kept}, {{x / (1 + exp(-x))}, Shared::raised}};
  }];
  let references = [["silu", "", "silu", "x * sigmoid(x)",
                     "gate(sigmoid(x), x, sigmoid(x) * sigmoid(-x))"]];
}
