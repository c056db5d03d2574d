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

/// Whether `first` and `second` read a tensor in common.
static bool shareTensor(ElementwiseOp first, ElementwiseOp second) {
  return llvm::any_of(first.getInputs(), [&](Value input) {
    return isa<RankedTensorType>(input.getType()) &&
           llvm::is_contained(second.getInputs(), input);
  });
}

/// Fuses `op` into its only consumer or with an earlier operation that reads
/// one of its tensors.
static bool fuseOne(RewriterBase &rewriter, ElementwiseOp op,
                    ArrayRef<ElementwiseOp> earlier) {
  if (ElementwiseOp consumer = getOnlyConsumer(op))
    return succeeded(fuseProducer(rewriter, op, consumer));
  for (ElementwiseOp first : earlier)
    if (shareTensor(first, op) && succeeded(fuseSiblings(rewriter, first, op)))
      return true;
  return false;
}

namespace {
struct FadFusePass : fad::impl::FadFuseBase<FadFusePass> {
  using FadFuseBase::FadFuseBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (Block &block : getOperation().getBody())
      while (fuseSomewhere(rewriter, block))
        ;
  }

  static bool fuseSomewhere(RewriterBase &rewriter, Block &block) {
    SmallVector<ElementwiseOp> earlier;
    for (auto op : block.getOps<ElementwiseOp>()) {
      if (fuseOne(rewriter, op, earlier))
        return true;
      earlier.push_back(op);
    }
    return false;
  }
};
} // namespace
