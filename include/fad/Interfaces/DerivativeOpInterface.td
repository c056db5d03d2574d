//===- DerivativeOpInterface.td - Scalar derivative rules --*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_DERIVATIVEOPINTERFACE_TD
#define FAD_INTERFACES_DERIVATIVEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Fad_DerivativeOpInterface : OpInterface<"DerivativeOpInterface"> {
  let description = [{
    The derivative of a scalar operation, stated once and used everywhere:
    forward mode in an elementwise region, reverse mode across operations, and
    the adjoint of any `linalg.generic`.

    An operation implements `partial`, or `pushforward` if a tangent is not a sum of
    products (`arith.select`). Rules state formulas with `fad::Expr`. A rule builds
    operations at the builder's insertion point and may not change any existing
    operation. Narrow operands (f16, bf16) reach the rule extended to f32, and the
    rule returns f32.

    Upstream operations get their rules as external models in `lib/Rules`;
    `docs/AddingARule.md` shows how another dialect adds its own.
  }];
  let cppNamespace = "::mlir::fad";
  let methods = [
    InterfaceMethod<[{
        The partial derivative of result `result` with respect to operand
        `operand`, at the primal values `at`. A constant `Expr` states a
        constant derivative; a null `Expr` states that there is none, because
        the operand is not differentiable (an integer exponent, a condition).
      }],
      "::mlir::fad::Expr", "partial",
      (ins "const ::mlir::fad::Primal &":$at, "unsigned":$result, "unsigned":$operand)>,
    InterfaceMethod<[{
        The same partial derivative in a form that reads the operation's results
        (`y` for `exp`, `-y / b` for a quotient), or a null `Expr` if this form does
        not exist. A tape prefers this form, because the result is often kept for
        another operation. The form may be less accurate where the result is rounded
        to a constant (`1 - y * y` for large `tanh`).
      }],
      "::mlir::fad::Expr", "partialFromResult",
      (ins "const ::mlir::fad::Primal &":$at, "unsigned":$result, "unsigned":$operand),
      "", [{ return ::mlir::fad::Expr(); }]>,
    InterfaceMethod<[{
        The tangent of result `result`, given one tangent for each operand (null if
        the operand has none). The default is the sum of `partial * tangent`. With
        `preferResults`, it uses `partialFromResult` where that is not null. A null
        tangent is zero.
      }],
      "::mlir::fad::Expr", "pushforward",
      (ins "const ::mlir::fad::Primal &":$at, "unsigned":$result,
           "::llvm::ArrayRef<::mlir::fad::Expr>":$tangents, "bool":$preferResults),
      "", [{
        return ::mlir::fad::detail::sumOfProducts($_op, at, result, tangents, preferResults);
      }]>
  ];
}

#endif // FAD_INTERFACES_DERIVATIVEOPINTERFACE_TD
