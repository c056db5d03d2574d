//===- ActivationOpInterface.td - Functions of a number ----*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_ACTIVATIONOPINTERFACE_TD
#define FAD_INTERFACES_ACTIVATIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Fad_ActivationOpInterface : OpInterface<"ActivationOpInterface"> {
  let description = [{
    An elementwise function of one operand whose value is a formula. Lowering,
    folding and analyses in double precision evaluate that formula. Ranges, limits
    and monotone pieces are found by evaluating it, and so are not stated.
  }];
  let cppNamespace = "::mlir::fad";
  let methods = [
    InterfaceMethod<[{
        The value at `x`, in the type that `x` is computed in: f32 for f16, bf16
        and f32, else the type itself. Of a constant, which stands for an f64, the
        value is a constant.
      }],
      "::mlir::fad::Expr", "getValueAt", (ins "::mlir::fad::Expr":$x)>,
    InterfaceMethod<"What the value takes most of its time for.",
      "::mlir::fad::ActivationTime", "getTime">,
    InterfaceMethod<[{
        Whether a kernel on a GPU takes as many registers for the value as a
        function of libdevice does.
      }],
      "bool", "takesManyRegisters">
  ];
}

#endif // FAD_INTERFACES_ACTIVATIONOPINTERFACE_TD
