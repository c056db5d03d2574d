//===- LinalgTerms.cpp - Terms of adjoints of linalg operations -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Differentiate/ForwardMode.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

BlockArgument ScalarBody::addOperand(Value operand, AffineMap map) {
  operands.push_back(operand);
  maps.push_back(map);
  return block->addArgument(getElementTypeOrSelf(operand), operand.getLoc());
}

void ScalarBody::dropUnusedOperands() {
  for (unsigned index = operands.size(); index-- > 0;) {
    BlockArgument argument = block->getArgument(index);
    if (!argument.use_empty() || argument == sum)
      continue;
    block->eraseArgument(index);
    operands.erase(operands.begin() + index);
    maps.erase(maps.begin() + index);
  }
}

Value fad::convertElements(OpBuilder &builder, Location loc, Value tensor,
                           Type elementType) {
  if (getElementTypeOrSelf(tensor) == elementType)
    return tensor;
  return fad::ElementwiseOp::create(
             builder, loc, tensor,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               ExprBuilder eb(b, loc, elementType);
               return SmallVector<Value>{
                   convert(Expr(eb, arguments[0]), elementType).getValue()};
             })
      ->getResult(0);
}

LogicalResult fad::emitNotASum(LinalgOp op) {
  return op.emitOpError("combines elements in another way than by adding or "
                        "multiplying them or by taking the greatest or least, "
                        "which has no reverse rule; write the reduction as "
                        "one of these");
}

IRMapping fad::clonePrimalBody(const StructuredPrimal &primal,
                               ScalarBody &body) {
  LinalgOp op = primal.op;
  Block &from = *op.getBlock();
  IRMapping primals;
  for (OpOperand &operand : op->getOpOperands())
    primals.map(
        op.getMatchingBlockArgument(&operand),
        body.addOperand(operand.get(), op.getMatchingIndexingMap(&operand)));
  OpBuilder inside = appendTo(*body.block, op.getContext());
  clonePrimals(inside, from, primals);
  // Results of the operation are read, not computed again.
  for (auto [index, value] :
       llvm::enumerate(from.getTerminator()->getOperands()))
    if (primal.writtenOnce[index] && value.getParentBlock() == &from &&
        value.getDefiningOp())
      primals.map(value, body.addOperand(op->getResult(index),
                                         primal.getResultMap(index)));
  return primals;
}

FailureOr<ScalarBody> fad::buildTerms(const StructuredPrimal &primal,
                                      Value seed,
                                      MutableArrayRef<Value> wanted) {
  LinalgOp op = primal.op;
  Location loc = op.getLoc();
  Block &from = *op.getBlock();
  ScalarBody body;
  IRMapping primals = clonePrimalBody(primal, body);
  OpBuilder inside = appendTo(*body.block, op.getContext());
  TangentMap tangents;
  tangents[seed] = 1;
  if (failed(
          pushforward(inside, from, primals, tangents, primal.preferResults)))
    return failure();

  Type type = getTangentType(seed.getType());
  ExprBuilder eb(inside, loc, type);
  Expr sum;
  ValueRange yielded = from.getTerminator()->getOperands();
  for (auto [index, cotangent] : llvm::enumerate(primal.cotangents)) {
    const std::optional<ReductionAdjoint> &reduction = primal.reductions[index];
    Expr tangent =
        tangents.lookup(reduction ? reduction->getTerm() : yielded[index]);
    if (!cotangent || !tangent || tangent.isConstant(0))
      continue;
    if (Value value = tangent.getValue())
      tangent = convert(Expr(eb, value), type);
    Expr weight =
        reduction
            ? reduction->getTermCotangent(eb, primal, body, primals)
            : Expr(eb, body.addOperand(cotangent, primal.getResultMap(index)));
    Expr term = tangentProduct(convert(weight, type), tangent);
    sum = sum ? sum + term : term;
  }
  if (!sum)
    return body;
  body.sum = sum.materialize(eb, type);
  SmallVector<Value> kept = {body.sum};
  for (Value &value : wanted)
    kept.push_back(value = primals.lookupOrDefault(value));
  eraseDeadOps(*body.block, kept);
  // Partial sums differ from the init.
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!primal.writtenOnce[init.getOperandNumber() - op.getNumDpsInputs()] &&
        !body.block->getArgument(init.getOperandNumber()).use_empty())
      return emitNotASum(op);
  return body;
}
