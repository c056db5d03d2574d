//===- Fuse.cpp - Fuse elementwise operations -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFUSE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The only operation that reads results of `op`, if that is a fad.elementwise
/// of the same block.
static ElementwiseOp getOnlyConsumer(ElementwiseOp op) {
  Operation *consumer = nullptr;
  for (Operation *user : op->getUsers()) {
    if (consumer && consumer != user)
      return {};
    consumer = user;
  }
  auto elementwise = dyn_cast_or_null<ElementwiseOp>(consumer);
  if (!elementwise || elementwise->getBlock() != op->getBlock())
    return {};
  return elementwise;
}

/// The first operation before `op` that reads one of its tensors.
static ElementwiseOp findSibling(ElementwiseOp op) {
  ElementwiseOp first;
  for (Value input : op.getInputs()) {
    if (!isa<RankedTensorType>(input.getType()))
      continue;
    for (Operation *user : input.getUsers()) {
      auto candidate = dyn_cast<ElementwiseOp>(user);
      if (candidate && candidate->getBlock() == op->getBlock() &&
          candidate->isBeforeInBlock(first ? first : op))
        first = candidate;
    }
  }
  return first;
}

/// Fuses `op` into its only consumer or with an earlier sibling. Returns
/// whether it did; `next` is the operation to visit next.
static bool fuse(RewriterBase &rewriter, ElementwiseOp op, Operation *&next) {
  if (ElementwiseOp consumer = getOnlyConsumer(op)) {
    bool adjacent = next == consumer;
    FailureOr<ElementwiseOp> fused = fuseProducer(rewriter, op, consumer);
    if (succeeded(fused) && adjacent)
      next = *fused;
    return succeeded(fused);
  }
  ElementwiseOp sibling = findSibling(op);
  return sibling && succeeded(fuseSiblings(rewriter, sibling, op));
}

namespace {
struct FadFusePass : fad::impl::FadFuseBase<FadFusePass> {
  using FadFuseBase::FadFuseBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (Block &block : getOperation().getBody())
      while (fuseOnce(rewriter, block))
        ;
  }

  /// Visits every operation once; says whether another round can find more.
  static bool fuseOnce(RewriterBase &rewriter, Block &block) {
    bool changed = false;
    Operation *next = nullptr;
    for (Operation *op = &block.front(); op; op = next) {
      next = op->getNextNode();
      if (auto elementwise = dyn_cast<ElementwiseOp>(op))
        changed |= fuse(rewriter, elementwise, next);
    }
    return changed;
  }
};
} // namespace
