//===- Roundings.cpp - Types to which values are rounded ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roundings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Visits all values from which a gradient is computed.
class RoundingFinder {
public:
  explicit RoundingFinder(NestedPair &pair) : pair(pair) {}

  SmallVector<FloatType> find(Value gradient);

private:
  void visit(Operation *op);
  void push(Value value) {
    if (seen.insert(value).second)
      worklist.push_back(value);
  }

  NestedPair &pair;
  SmallVector<Value> worklist;
  DenseSet<Value> seen;
  DenseSet<Operation *> visited;
  llvm::SetVector<FloatType> types;
};
} // namespace

/// Whether `op` computes numbers that are rounded to the type of its results.
static bool rounds(Operation *op) {
  // Operations with regions compute in these.
  return op->getNumRegions() == 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<arith::SelectOp>(op) &&
         !isa_and_nonnull<tensor::TensorDialect>(op->getDialect());
}

void RoundingFinder::visit(Operation *op) {
  if (!visited.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    push(operand);
  if (rounds(op))
    for (Type type : op->getResultTypes())
      if (auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
        types.insert(floatType);
  if (auto call = dyn_cast<CallOpInterface>(op))
    if (Operation *callee = call.resolveCallable())
      visit(callee);
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      visit(&inner);
}

SmallVector<FloatType> RoundingFinder::find(Value gradient) {
  push(gradient);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (Operation *op = value.getDefiningOp()) {
      visit(op);
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    if (argument.getOwner() == &pair.backward.front() &&
        argument.getArgNumber() < pair.residuals.size())
      push(pair.forward.front().getTerminator()->getOperand(
          pair.getNumPrimalResults() + argument.getArgNumber()));
  }
  return types.takeVector();
}

SmallVector<SmallVector<FloatType>> fad::findRoundings(NestedPair &pair) {
  SmallVector<SmallVector<FloatType>> all;
  for (Value gradient : pair.backward.front().getTerminator()->getOperands())
    all.push_back(RoundingFinder(pair).find(gradient));
  return all;
}
