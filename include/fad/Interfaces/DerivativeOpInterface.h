//===- DerivativeOpInterface.h - Scalar derivative rules --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_DERIVATIVEOPINTERFACE_H
#define FAD_INTERFACES_DERIVATIVEOPINTERFACE_H

#include "fad/Interfaces/Expr.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::fad {

/// The primal values at which a rule is evaluated, as expressions in the
/// computing type: f32 for f16, bf16 and f32, else the type itself. Operands
/// and results that are not floating-point keep their type.
struct Primal {
  ExprBuilder &builder;
  llvm::ArrayRef<Expr> operands;
  llvm::ArrayRef<Expr> results;
};

/// The type of tangents and cotangents of a value of the scalar type `type`:
/// f32 for f16 and bf16, `type` itself for f32 and f64, null for every other
/// type, which has no tangents.
FloatType getTangentType(Type type);

namespace detail {
/// Default of DerivativeOpInterface::pushforward.
Expr sumOfProducts(Operation *op, const Primal &at, unsigned result,
                   llvm::ArrayRef<Expr> tangents, bool preferResults);
} // namespace detail

} // namespace mlir::fad

#include "fad/Interfaces/DerivativeOpInterface.h.inc"

#endif // FAD_INTERFACES_DERIVATIVEOPINTERFACE_H
