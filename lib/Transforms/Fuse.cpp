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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFUSE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Tensors that one operation reads and writes at most: a kernel with more
/// streams gains nothing, and its parameters are limited.
static constexpr unsigned kMaxTensors = 16;

static unsigned countTensors(ElementwiseOp op) {
  return op.getNumResults() +
         llvm::count_if(op.getInputs().getTypes(),
                        llvm::IsaPred<RankedTensorType>);
}

/// Whether only elementwise operations, and what holds no data, stand between
/// `first` and `second`. Fusing across other work would keep the operands of
/// the one, or the results of the other, alive while that work is done.
static bool areAdjacent(Operation *first, Operation *second) {
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (!op || !(isa<ElementwiseOp, ResidualOp, tensor::EmptyOp, tensor::DimOp,
                     linalg::FillOp>(op) ||
                 matchPattern(op, m_Constant())))
      return false;
  return true;
}

/// Whether fusing `first` with the later `second` pays.
static bool pays(ElementwiseOp first, ElementwiseOp second) {
  return countTensors(first) + countTensors(second) <= kMaxTensors &&
         areAdjacent(first, second);
}

/// The only operation that reads results of `op`, if that is a fad.elementwise
/// of the same block that it pays to fuse with.
static ElementwiseOp getOnlyConsumer(ElementwiseOp op) {
  Operation *consumer = nullptr;
  for (Operation *user : op->getUsers()) {
    if (consumer && consumer != user)
      return {};
    consumer = user;
  }
  auto elementwise = dyn_cast_or_null<ElementwiseOp>(consumer);
  if (!elementwise || elementwise->getBlock() != op->getBlock() ||
      !pays(op, elementwise))
    return {};
  return elementwise;
}

/// The first operation before `op` that reads one of its tensors and that it
/// pays to fuse with.
static ElementwiseOp findSibling(ElementwiseOp op) {
  ElementwiseOp first;
  for (Value input : op.getInputs()) {
    if (!isa<RankedTensorType>(input.getType()))
      continue;
    for (Operation *user : input.getUsers()) {
      auto candidate = dyn_cast<ElementwiseOp>(user);
      if (candidate && candidate->getBlock() == op->getBlock() &&
          candidate->isBeforeInBlock(first ? first : op) &&
          pays(candidate, op))
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
