//===- ResultAlternatives.cpp - Results from other results ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultAlternatives.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// A computation in the body of an `fad.elementwise`, from what it yields.
struct Slice {
  /// The scalars that it begins with.
  llvm::SmallSetVector<Value, 2> yielded;
  llvm::SmallPtrSet<Operation *, 8> ops;
};
} // namespace

/// How `result` is computed from other results of `op`; `nullopt` where it
/// needs an operand, too.
static std::optional<Slice> findSlice(ElementwiseOp op, unsigned result) {
  ValueRange yielded = op.getYield().getValues();
  Slice slice;
  SmallVector<Value> worklist = {yielded[result]};
  while (!worklist.empty()) {
    Value scalar = worklist.pop_back_val();
    Operation *def = scalar.getDefiningOp();
    if (!def)
      return std::nullopt;
    if (scalar != yielded[result] && llvm::is_contained(yielded, scalar))
      slice.yielded.insert(scalar);
    else if (slice.ops.insert(def).second)
      llvm::append_range(worklist, def->getOperands());
  }
  return slice.yielded.empty() ? std::nullopt : std::optional(slice);
}

/// Computes `result` of `op` by `slice`, right after `op`.
static Value compute(RewriterBase &rewriter, ElementwiseOp op, unsigned result,
                     const Slice &slice) {
  auto body = std::make_unique<Block>();
  IRMapping mapping;
  SmallVector<Value> inputs;
  ValueRange yielded = op.getYield().getValues();
  for (Value scalar : slice.yielded) {
    auto position = llvm::find(yielded, scalar) - yielded.begin();
    inputs.push_back(op.getResult(position));
    mapping.map(scalar, body->addArgument(scalar.getType(), scalar.getLoc()));
  }
  OpBuilder inside = appendTo(*body, op.getContext());
  for (Operation &inner : *op.getBodyBlock())
    if (slice.ops.contains(&inner))
      inside.clone(inner, mapping);
  rewriter.setInsertionPointAfter(op);
  ElementwiseOp computed = buildElementwise(
      rewriter, op.getLoc(), op.getResult(result).getType(), std::move(body),
      inputs, mapping.lookup(yielded[result]));
  return computed.getResult(0);
}

void fad::addResultAlternatives(RewriterBase &rewriter,
                                ArrayRef<Operation *> primal) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation *operation : primal) {
    auto op = dyn_cast<ElementwiseOp>(operation);
    if (!op || op->getNumResults() < 2)
      continue;
    for (OpResult result : op->getResults()) {
      std::optional<Slice> slice = findSlice(op, result.getResultNumber());
      if (!slice)
        continue;
      Value other = compute(rewriter, op, result.getResultNumber(), *slice);
      rewriter.setInsertionPointAfter(other.getDefiningOp());
      auto both = AlternativesOp::create(
          rewriter, op.getLoc(), result.getType(), ValueRange{result, other});
      rewriter.replaceUsesWithIf(result, both, [&](OpOperand &use) {
        return use.getOwner() != both && !isa<func::ReturnOp>(use.getOwner());
      });
    }
  }
}
