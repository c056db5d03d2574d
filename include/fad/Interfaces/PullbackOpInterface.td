//===- PullbackOpInterface.td - Reverse rules --------------*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_PULLBACKOPINTERFACE_TD
#define FAD_INTERFACES_PULLBACKOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Fad_PullbackOpInterface : OpInterface<"PullbackOpInterface"> {
  let description = [{
    The reverse rule of a tensor operation that has no scalar body: a reshape, a
    cast, or an operation of a third party. Operations with a scalar body
    (`fad.elementwise`, every `linalg` structured operation) need none: their
    adjoint follows from `DerivativeOpInterface`.
  }];
  let cppNamespace = "::mlir::fad";
  let methods = [
    InterfaceMethod<[{
        Builds, at the builder's insertion point, the cotangent of operand `operand`
        from the cotangents of the results (null if a result has none). Returns a
        value of the operand's type, a null value if the cotangent is zero, or
        failure after emitting an error.
        cotangent is zero, or failure after emitting an error.
      }],
      "::llvm::FailureOr<::mlir::Value>", "pullback",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
           "unsigned":$operand)>
  ];
}

#endif // FAD_INTERFACES_PULLBACKOPINTERFACE_TD
