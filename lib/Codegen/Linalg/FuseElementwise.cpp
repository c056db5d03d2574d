//===- FuseElementwise.cpp - Elementwise operations as one loop -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Remarks.h"
#include "fad/Analysis/SizeExpr.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFUSEELEMENTWISE
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-fuse-elementwise"

/// Whether `value` is read by `op` or after it.
static bool isReadFrom(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    return !ancestor || !ancestor->isBeforeInBlock(op);
  });
}

/// Whether no more memory is in use between `producer` and `consumer` if the
/// producer is computed at the consumer: its operands then live on instead of
/// its result.
static bool keepsMemory(linalg::GenericOp producer,
                        linalg::GenericOp consumer) {
  auto result = cast<RankedTensorType>(producer.getResult(0).getType());
  unsigned extended = 0;
  for (Value input :
       llvm::SmallDenseSet<Value>(llvm::from_range, producer.getDpsInputs())) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    bool isSmall = !type || (type.hasStaticShape() && result.hasStaticShape() &&
                             type.getNumElements() < result.getNumElements());
    if (isSmall || isa<BlockArgument>(input) || isReadFrom(input, consumer))
      continue;
    if (getScalarBytes(type.getElementType()) >
        getScalarBytes(result.getElementType()))
      return false;
    ++extended;
  }
  return extended <= 1;
}

/// Whether the loop that writes what `operand` reads and the one that reads it
/// can become one: nothing else reads it, and no element is computed twice.
static bool canFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer->getNumResults() != 1 ||
      !producer->hasOneUse() || !producer->getDiscardableAttrs().empty() ||
      !consumer->getDiscardableAttrs().empty() ||
      producer->getBlock() != consumer->getBlock() ||
      consumer.getNumParallelLoops() != consumer.getNumLoops())
    return false;
  return consumer.getMatchingIndexingMap(operand).isPermutation();
}

/// Whether the two loops of `operand`, which can become one, need no more
/// memory then.
static bool keepsMemory(OpOperand *operand) {
  return keepsMemory(operand->get().getDefiningOp<linalg::GenericOp>(),
                     cast<linalg::GenericOp>(operand->getOwner()));
}

namespace {
struct FuseElementwisePass
    : fad::impl::FadFuseElementwiseBase<FuseElementwisePass> {
  void runOnOperation() override {
    unsigned fused = 0;
    auto isWorthFusing = [&](OpOperand *operand) {
      if (!canFuse(operand) || !keepsMemory(operand))
        return false;
      LDBG() << "fuses " << operand->get().getLoc() << " into "
             << operand->getOwner()->getLoc();
      ++fused;
      return true;
    };
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, isWorthFusing);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    numFused += fused;
    if (fused)
      emitPassedRemark(getOperation(), DEBUG_TYPE, "Fused",
                       {{"Producers", fused}});
    reportRefused();
  }

private:
  /// Says of each loop that could be part of its reader why it is not.
  void reportRefused() {
    getOperation()->walk([&](linalg::GenericOp op) {
      for (OpOperand &operand : op->getOpOperands()) {
        if (!op.isDpsInput(&operand) || !canFuse(&operand) ||
            keepsMemory(&operand))
          continue;
        ++numRefused;
        LDBG() << operand.get().getLoc()
               << " stays apart, as memory would grow";
        emitMissedRemark(operand.get().getDefiningOp(), DEBUG_TYPE, "NotFused",
                         "more memory would be in use up to its reader");
      }
    });
  }
};
} // namespace
