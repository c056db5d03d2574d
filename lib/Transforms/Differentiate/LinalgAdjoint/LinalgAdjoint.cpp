//===- LinalgAdjoint.cpp - Adjoint of linalg structured operations --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "LinalgIndexing.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Differentiate/ForwardMode.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

/// Whether `op` only divides. Backward repeats a division if that saves bytes,
/// so a derivative that reads the quotient never needs more than one that reads
/// the dividend.
static bool isQuotient(LinalgOp op) {
  Block &body = *op.getBlock();
  return llvm::hasSingleElement(body.without_terminator()) &&
         isa<arith::DivFOp>(body.front());
}

namespace {
/// The adjoint of one structured operation.
class LinalgAdjoint {
public:
  LinalgAdjoint(AdjointBuilder &adjoint, LinalgOp op, ValueRange cotangents)
      : adjoint(adjoint), op(op), loc(op.getLoc()), cotangents(cotangents),
        primal{op,
               this->cotangents,
               {},
               adjoint.prefersResults() ||
                   (adjoint.form == DerivativeForm::both && isQuotient(op)),
               {}} {}

  LogicalResult run();

private:
  /// The partial derivative of each yielded value with respect to `init`; null
  /// if it is zero or the result has no cotangent.
  LogicalResult differentiateInit(OpOperand &init,
                                  SmallVectorImpl<Expr> &partials);
  /// Classifies the dependence of each result on its init. Fails if elements
  /// that are written several times are combined by an operation without a
  /// rule.
  LogicalResult classifyResults();
  FailureOr<Value> getInputCotangent(OpOperand &input);

  AdjointBuilder &adjoint;
  LinalgOp op;
  Location loc;
  SmallVector<Value> cotangents;
  StructuredPrimal primal;
  /// For each result, whether it, and no other result, adds to its init.
  SmallVector<bool> accumulates;
};
} // namespace

LogicalResult
LinalgAdjoint::differentiateInit(OpOperand &init,
                                 SmallVectorImpl<Expr> &partials) {
  Block &body = *op.getBlock();
  // The body is differentiated in a temporary block.
  Block scratch;
  OpBuilder scratchBuilder = appendTo(scratch, op.getContext());
  IRMapping primals;
  for (BlockArgument argument : body.getArguments())
    primals.map(argument, scratch.addArgument(argument.getType(), loc));
  clonePrimals(scratchBuilder, body, primals);
  TangentMap tangents;
  tangents[op.getMatchingBlockArgument(&init)] = 1;
  if (failed(pushforward(scratchBuilder, body, primals, tangents)))
    return failure();
  for (auto [index, yielded] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    partials.push_back(cotangents[index] ? tangents.lookup(yielded) : Expr());
  return success();
}

LogicalResult LinalgAdjoint::classifyResults() {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<llvm::SmallBitVector> loops = findOwnLoops(op, init);
    primal.writtenOnce.push_back(loops && loops->all());
  }
  accumulates.resize(op.getNumDpsInits());
  primal.reductions.resize(op.getNumDpsInits());
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!op.payloadUsesValueFromOperand(&init)) {
      if (cotangents[index] && !primal.writtenOnce[index])
        return op.emitOpError("writes result ")
               << index << " through "
               << AffineMapAttr::get(op.getMatchingIndexingMap(&init))
               << " without reading it, which has no reverse rule unless each "
                  "element is written once; add to the elements instead";
      continue;
    }
    if (!getTangentType(getElementTypeOrSelf(init.get())))
      continue;
    SmallVector<Expr> partials;
    if (failed(differentiateInit(init, partials)))
      return failure();
    bool adds = partials[index] && partials[index].isConstant(1);
    std::optional<Reduction> reduction;
    if (cotangents[index] && !adds && !primal.writtenOnce[index])
      reduction = matchReduction(op, index, primal.writtenOnce);
    // A maximum that cancels has no derivative.
    if (reduction && reduction->kind != Reduction::Kind::Product &&
        isInvariantToShift(op->getResult(index)))
      cotangents[index] = Value();
    else if (reduction)
      primal.reductions[index].emplace(index, *reduction);
    bool reachesOthers = false;
    for (auto [result, partial] : llvm::enumerate(partials))
      reachesOthers |= result != index && partial && !partial.isConstant(0);
    if (!primal.writtenOnce[index] &&
        (reachesOthers || (cotangents[index] && !adds && !reduction)))
      return emitNotASum(op);
    accumulates[index] = adds && !reachesOthers;
  }
  return success();
}

FailureOr<Value> LinalgAdjoint::getInputCotangent(OpOperand &input) {
  FailureOr<ScalarBody> body =
      buildTerms(primal, op.getMatchingBlockArgument(&input));
  if (failed(body))
    return failure();
  if (!body->sum)
    return Value();
  return emitCotangent(adjoint.rewriter, op, std::move(*body), input.get(),
                       op.getMatchingIndexingMap(&input));
}

LogicalResult LinalgAdjoint::run() {
  auto isGather = [&](OpOperand &operand) {
    return isa<tensor::ExtractOp>(operand.getOwner()) &&
           operand.getOwner()->getParentOp() == op;
  };
  if (failed(adjoint.checkCaptures(op, isGather)))
    return failure();
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("works on buffers, which have no gradients; "
                          "differentiate before bufferization");
  if (failed(checkLoopExtents(op)) || failed(classifyResults()))
    return failure();
  for (std::optional<ReductionAdjoint> &reduction : primal.reductions)
    if (reduction)
      reduction->emitWeights(adjoint.rewriter, primal);
  SmallVector<Value> operands(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!adjoint.isVaried(operand.get()))
      continue;
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (op.isDpsInit(&operand)) {
      unsigned index = operand.getOperandNumber() - op.getNumDpsInputs();
      if (primal.reductions[index]) {
        operands[operand.getOperandNumber()] =
            primal.reductions[index]->emitInitCotangent(adjoint.rewriter,
                                                        primal);
        continue;
      }
      if (accumulates[index] || !primal.writtenOnce[index]) {
        operands[operand.getOperandNumber()] = cotangents[index];
        continue;
      }
    }
    FailureOr<Value> cotangent = getInputCotangent(operand);
    if (failed(cotangent))
      return failure();
    operands[operand.getOperandNumber()] = *cotangent;
  }
  SmallVector<std::pair<Value, Value>> gathered;
  for (tensor::ExtractOp gather : findGathers(op)) {
    if (!adjoint.isVaried(gather.getTensor()))
      continue;
    FailureOr<Value> cotangent =
        buildGatherCotangent(adjoint.rewriter, primal, gather);
    if (failed(cotangent))
      return failure();
    if (*cotangent)
      gathered.emplace_back(gather.getTensor(), *cotangent);
  }
  adjoint.addCotangents(op->getOperands(), operands);
  for (auto [tensor, cotangent] : gathered)
    adjoint.addCotangent(tensor, cotangent);
  return success();
}

LogicalResult fad::buildAdjoint(AdjointBuilder &adjoint, LinalgOp op,
                                ValueRange cotangents) {
  return LinalgAdjoint(adjoint, op, cotangents).run();
}
