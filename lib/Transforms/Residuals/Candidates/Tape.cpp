//===- Tape.cpp - Values on a tape ----------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes derivatives read the values that a tape would have: from the results of
// a derivative, a search through its body stops at the nearest scalars that
// were tensors in the source program. These become results of the region, and
// the derivative is computed from them.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Candidates/Tape.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

/// The scalars on a tape from which `values` are computed: the nearest ones
/// that were tensors in the source program, and the sources.
static llvm::SetVector<Value> findTape(ValueRange values) {
  llvm::SetVector<Value> tape;
  SmallVector<Value> worklist(values);
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    Operation *def = current.getDefiningOp();
    if (!def || def->hasAttr(FadDialect::kTapeAttr))
      tape.insert(current);
    else
      llvm::append_range(worklist, def->getOperands());
  }
  return tape;
}

/// The primal operation of `derivative`: the nearest earlier one with the same
/// operands.
static ElementwiseOp findPrimal(ElementwiseOp derivative) {
  ElementwiseOp primal;
  for (Operation *user : derivative.getShapeOperand().getUsers()) {
    auto candidate = dyn_cast<ElementwiseOp>(user);
    if (!candidate || candidate->hasAttr(FadDialect::kAdjointOfAttr) ||
        candidate->getBlock() != derivative->getBlock() ||
        !candidate->isBeforeInBlock(derivative) ||
        (primal && candidate->isBeforeInBlock(primal)))
      continue;
    if (llvm::all_of(derivative.getInputs(), [&](Value input) {
          return llvm::is_contained(candidate.getInputs(), input);
        }))
      primal = candidate;
  }
  return primal;
}

/// Computes the results of `op` from `tape`, whose scalars are the elements of
/// `tensors`.
static ElementwiseOp computeFromTape(RewriterBase &rewriter, ElementwiseOp op,
                                     const llvm::SetVector<Value> &tape,
                                     ValueRange tensors) {
  auto body = std::make_unique<Block>();
  IRMapping mapping;
  for (Value scalar : tape)
    mapping.map(scalar, body->addArgument(scalar.getType(), scalar.getLoc()));
  OpBuilder inside = appendTo(*body, op.getContext());
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    bool onTape = llvm::any_of(inner.getResults(),
                               [&](Value v) { return tape.contains(v); });
    bool computable = llvm::all_of(
        inner.getOperands(), [&](Value v) { return mapping.contains(v); });
    if (!onTape && computable)
      inside.clone(inner, mapping);
  }
  SmallVector<Value> yielded;
  for (Value value : op.getYield().getValues())
    yielded.push_back(mapping.lookup(value));
  return buildElementwise(rewriter, op.getLoc(), op.getResultTypes(),
                          std::move(body), tensors, yielded);
}

/// Rewrites one derivative.
static void exposeTape(RewriterBase &rewriter, ElementwiseOp derivative) {
  ElementwiseOp primal = findPrimal(derivative);
  llvm::SetVector<Value> tape = findTape(derivative.getYield().getValues());
  SmallVector<Value> saved;
  for (Value scalar : tape)
    if (scalar.getDefiningOp())
      saved.push_back(scalar);
  if (!primal || saved.empty())
    return;

  rewriter.setInsertionPointAfter(primal);
  ElementwiseOp computed = cloneYielding(rewriter, derivative, saved);
  SmallVector<Value> tensors;
  unsigned next = 0;
  for (Value scalar : tape) {
    if (auto argument = dyn_cast<BlockArgument>(scalar))
      tensors.push_back(derivative.getInputs()[argument.getArgNumber()]);
    else
      tensors.push_back(computed.getResult(next++));
  }
  rewriter.setInsertionPoint(derivative);
  ElementwiseOp rest = computeFromTape(rewriter, derivative, tape, tensors);
  rest->setDiscardableAttrs(derivative->getDiscardableAttrDictionary());
  rewriter.replaceOp(derivative, rest);
  // The tape's values are further results of the region itself.
  auto isBefore = [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  };
  if (canFuseSiblings(primal, computed, isBefore))
    simplifyFused(rewriter, fuseSiblings(rewriter, primal, computed));
}

void fad::exposeTape(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  // Only forward operations, because adjoints read cotangents. Other replaced
  // operations precede the derivative.
  for (auto op :
       llvm::make_early_inc_range(function.front().getOps<ElementwiseOp>()))
    if (op->hasAttr(FadDialect::kAdjointOfAttr) && findPrimal(op))
      ::exposeTape(rewriter, op);
}
