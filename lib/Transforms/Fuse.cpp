//===- Fuse.cpp - Fuse elementwise operations -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/JointFunction.h"
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
  return op.getNumResults() + llvm::count_if(op.getInputs().getTypes(),
                                             llvm::IsaPred<RankedTensorType>);
}

/// Whether `op` is elementwise, or holds no data. Fusing across other work
/// would keep the operands of the one, or the results of the other, alive while
/// that work is done.
static bool isFusedAcross(Operation *op) {
  return isa<ElementwiseOp, ResidualOp, tensor::EmptyOp, tensor::DimOp,
             linalg::FillOp>(op) ||
         matchPattern(op, m_Constant());
}

namespace {
/// Fuses the elementwise operations of one block.
class Fuser {
public:
  explicit Fuser(Block &block) : block(block), rewriter(getContext(block)) {}

  void run();

private:
  static MLIRContext *getContext(Block &block) {
    return block.getParentOp()->getContext();
  }
  /// Visits every operation once; says whether another round can find more.
  bool runOnce();
  /// Fuses `op` into its only consumer or with an earlier sibling. Returns
  /// whether it did; `next` is the operation to visit next.
  bool fuse(ElementwiseOp op, Operation *&next);
  /// Whether fusing `first` with the later `second` pays.
  bool pays(ElementwiseOp first, ElementwiseOp second);
  /// The only operation that reads results of `op`, if it pays to fuse with it.
  ElementwiseOp getOnlyConsumer(ElementwiseOp op);
  /// The first operation before `op` that reads one of its tensors and that it
  /// pays to fuse with.
  ElementwiseOp findSibling(ElementwiseOp op);

  Block &block;
  IRRewriter rewriter;
  /// Numbers the stretches between operations that nothing is fused across: the
  /// stretch of each elementwise operation that may be fused.
  DenseMap<Operation *, unsigned> stretches;
};
} // namespace

bool Fuser::pays(ElementwiseOp first, ElementwiseOp second) {
  auto it = stretches.find(first), other = stretches.find(second);
  return it != stretches.end() && other != stretches.end() &&
         it->second == other->second &&
         countTensors(first) + countTensors(second) <= kMaxTensors;
}

ElementwiseOp Fuser::getOnlyConsumer(ElementwiseOp op) {
  Operation *consumer = nullptr;
  for (Operation *user : op->getUsers()) {
    if (consumer && consumer != user)
      return {};
    consumer = user;
  }
  auto elementwise = dyn_cast_or_null<ElementwiseOp>(consumer);
  return elementwise && pays(op, elementwise) ? elementwise : ElementwiseOp();
}

ElementwiseOp Fuser::findSibling(ElementwiseOp op) {
  ElementwiseOp first;
  for (Value input : op.getInputs()) {
    if (!isa<RankedTensorType>(input.getType()))
      continue;
    for (Operation *user : input.getUsers()) {
      auto candidate = dyn_cast<ElementwiseOp>(user);
      if (candidate && pays(candidate, op) &&
          candidate->isBeforeInBlock(first ? first : op))
        first = candidate;
    }
  }
  return first;
}

bool Fuser::fuse(ElementwiseOp op, Operation *&next) {
  unsigned stretch = stretches.lookup(op);
  if (ElementwiseOp consumer = getOnlyConsumer(op)) {
    bool adjacent = next == consumer;
    FailureOr<ElementwiseOp> fused = fuseProducer(rewriter, op, consumer);
    if (failed(fused))
      return false;
    stretches[*fused] = stretch;
    if (adjacent)
      next = *fused;
    return true;
  }
  ElementwiseOp sibling = findSibling(op);
  if (!sibling)
    return false;
  FailureOr<ElementwiseOp> fused = fuseSiblings(rewriter, sibling, op);
  if (failed(fused))
    return false;
  stretches[*fused] = stretch;
  return true;
}

bool Fuser::runOnce() {
  stretches.clear();
  unsigned stretch = 0;
  for (Operation &op : block) {
    stretch += !isFusedAcross(&op);
    // A kernel takes the operands and results of its operation as they are.
    if (isa<ElementwiseOp>(op) && !op.hasAttr(FadDialect::kKernelAttr))
      stretches[&op] = stretch;
  }
  bool changed = false;
  Operation *next = nullptr;
  for (Operation *op = &block.front(); op; op = next) {
    next = op->getNextNode();
    if (auto elementwise = dyn_cast<ElementwiseOp>(op))
      changed |= fuse(elementwise, next);
  }
  return changed;
}

void Fuser::run() {
  while (runOnce())
    ;
}

namespace {
struct FadFusePass : fad::impl::FadFuseBase<FadFusePass> {
  using FadFuseBase::FadFuseBase;

  void runOnOperation() override {
    if (JointFunction::isJoint(getOperation()))
      return;
    for (Block *block : findTensorBlocks(getOperation()))
      Fuser(*block).run();
  }
};
} // namespace
