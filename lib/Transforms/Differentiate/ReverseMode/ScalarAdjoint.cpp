//===- ScalarAdjoint.cpp - Adjoint of operations on scalars ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Differentiate/Adjoint.h"
#include "fad/Transforms/Differentiate/ForwardMode.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::fad;

/// The cotangent of `value`, an operand of `op`; null if it is zero.
static FailureOr<Value> buildCotangent(AdjointBuilder &adjoint, Operation *op,
                                       ValueRange cotangents, Value value) {
  IRMapping primals;
  TangentMap tangents;
  tangents[value] = 1;
  if (failed(pushforward(adjoint.rewriter, op, primals, tangents,
                         adjoint.prefersResults())))
    return failure();
  Type type = getTangentType(value.getType());
  ExprBuilder eb(adjoint.rewriter, op->getLoc(), type);
  Expr sum;
  for (auto [result, cotangent] :
       llvm::zip_equal(op->getResults(), cotangents)) {
    Expr tangent = tangents.lookup(result);
    if (!cotangent || !tangent || tangent.isConstant(0))
      continue;
    if (Value computed = tangent.getValue())
      tangent = convert(Expr(eb, computed), type);
    Expr term = tangentProduct(convert(Expr(eb, cotangent), type), tangent);
    sum = sum ? sum + term : term;
  }
  if (!sum)
    return Value();
  return convert(sum, value.getType()).materialize(eb, value.getType());
}

LogicalResult fad::buildScalarAdjoint(AdjointBuilder &adjoint, Operation *op,
                                      ValueRange cotangents) {
  SmallVector<Value> operands(op->getNumOperands());
  // Equal operands share one tangent.
  llvm::SmallDenseSet<Value> seen;
  for (auto [operand, cotangent] :
       llvm::zip_equal(op->getOperands(), operands)) {
    if (!adjoint.isVaried(operand) || !seen.insert(operand).second)
      continue;
    FailureOr<Value> built = buildCotangent(adjoint, op, cotangents, operand);
    if (failed(built))
      return failure();
    cotangent = *built;
  }
  adjoint.addCotangents(op->getOperands(), operands);
  return success();
}
