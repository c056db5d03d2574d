//===- FadDetach.td - Where gradients stop -----------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_FADDETACH_TD
#define FAD_IR_FADDETACH_TD

include "fad/IR/Activations.td"
include "fad/IR/FadOps.td"

def Fad_DetachOp : Op<Fad_Dialect, "detach", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "a value through which no gradient flows";
  let description = [{
    The identity, with the derivative 0: `detach` of PyTorch, `stop_gradient` of
    JAX and TensorFlow. `fad-differentiate` and `fad-to-linalg` replace it by its
    operand.

    ```mlir
    %y = fad.detach %x : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Fad_FloatTensor:$operand);
  let results = (outs Fad_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasFolder = 1;
}

#endif // FAD_IR_FADDETACH_TD
