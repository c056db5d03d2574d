//===- AdjointOpInterface.td - Adjoints of operations ------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_ADJOINTOPINTERFACE_TD
#define FAD_INTERFACES_ADJOINTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Fad_AdjointOpInterface : OpInterface<"AdjointOpInterface"> {
  let description = [{
    The adjoint of an operation: from the cotangents of its results, those of
    its operands. A model implements `pullback` where operands are independent
    of each other, else `buildAdjoint`. Operations with a scalar body
    (`fad.elementwise`, every `linalg` structured operation) and operations on
    scalars need none: their adjoint follows from `DerivativeOpInterface`.

    An operation whose regions are differentiated also implements
    `RegionBranchOpInterface`, which says what values stand for what in them.
  }];
  let cppNamespace = "::mlir::fad";
  let methods = [
    InterfaceMethod<[{
        Emits the adjoint, given the cotangents of the results (null where a
        result has none), and adds to the cotangents of varied operands and of
        varied values that regions read from outside. Fails after emitting an
        error; the operation is still there then. The default calls `pullback`
        for each varied operand.
      }],
      "::llvm::LogicalResult", "buildAdjoint",
      (ins "::mlir::fad::AdjointBuilder &":$adjoint, "::mlir::ValueRange":$cotangents),
      "", [{
        return ::mlir::fad::detail::buildFromPullbacks($_op, adjoint, cotangents);
      }]>,
    InterfaceMethod<[{
        Builds, at the builder's insertion point, the cotangent of operand
        `operand` from the cotangents of the results. Returns a value of the
        operand's type, a null value where the cotangent is zero, or failure
        after emitting an error.
      }],
      "::llvm::FailureOr<::mlir::Value>", "pullback",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
           "unsigned":$operand),
      "", [{ return $_op->emitOpError("has an adjoint for all operands at once"); }]>
  ];
}

#endif // FAD_INTERFACES_ADJOINTOPINTERFACE_TD
