//===- ReuseBuffers.cpp - Write results over dead operands ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/BufferPlan.h"
#include "fad/Codegen/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADREUSEBUFFERS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct ReuseBuffersPass : fad::impl::FadReuseBuffersBase<ReuseBuffersPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (Block *block : findTensorBlocks(function)) {
      separateInits(*block);
      reuse(*block, getOwned(function, *block));
    }
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<tensor::EmptyOp, linalg::FillOp>(op) &&
          op->getNumResults() == 1 && op->use_empty())
        op->erase();
    });
  }

  /// The arguments of `block` that may be overwritten.
  static SmallVector<Value> getOwned(func::FuncOp function, Block &block) {
    SmallVector<Value> owned;
    for (BlockArgument argument : block.getArguments())
      if (block.getParentOp() != function ||
          function.getArgAttr(argument.getArgNumber(), FadDialect::kOwnedAttr))
        owned.push_back(argument);
    return owned;
  }

  /// Clones empty tensors and fills right before each operation of `block` that
  /// has them as init: a buffer is allocated at its first writer, and several
  /// writers can share it only one after the other.
  static void separateInits(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      OpBuilder builder(&op);
      for (OpOperand &operand : op.getOpOperands()) {
        Operation *def = operand.get().getDefiningOp();
        if (isFillOfEmpty(def) && isInit(operand))
          operand.set(copyFill(builder, cast<linalg::FillOp>(def)));
        else if (isa_and_nonnull<tensor::EmptyOp>(def))
          operand.set(copyEmpty(builder, operand.get()));
      }
    }
  }

  static Value copyEmpty(OpBuilder &builder, Value empty) {
    return builder.clone(*empty.getDefiningOp())->getResult(0);
  }

  static Value copyFill(OpBuilder &builder, linalg::FillOp fill) {
    Value empty = copyEmpty(builder, fill.getDpsInits()[0]);
    auto copy = cast<linalg::FillOp>(builder.clone(*fill));
    copy.getDpsInitsMutable()[0].set(empty);
    return copy.getResult(0);
  }

  /// Applies the in-place writes of `BufferPlan` to the operations of `block`.
  static void reuse(Block &block, ValueRange owned) {
    BufferPlan plan(block, owned);
    for (Operation &op : block) {
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      if (!structured)
        continue;
      for (OpResult result : op.getResults()) {
        OpOperand *source = plan.getReused(result);
        OpOperand *init = structured.getTiedOpOperand(result);
        if (source && source != init)
          init->set(source->get());
      }
    }
  }
};
} // namespace
