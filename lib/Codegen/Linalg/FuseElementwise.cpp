//===- FuseElementwise.cpp - Elementwise operations as one loop -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFUSEELEMENTWISE
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

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
    if (type.getElementTypeBitWidth() > result.getElementTypeBitWidth())
      return false;
    ++extended;
  }
  return extended <= 1;
}

/// Whether the loop that writes what `operand` reads and the one that reads it
/// become one: nothing else reads it, and no element is computed twice.
static bool isWorthFusing(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer->getNumResults() != 1 ||
      !producer->hasOneUse() || !producer->getDiscardableAttrs().empty() ||
      !consumer->getDiscardableAttrs().empty() ||
      producer->getBlock() != consumer->getBlock() ||
      consumer.getNumParallelLoops() != consumer.getNumLoops())
    return false;
  return consumer.getMatchingIndexingMap(operand).isPermutation() &&
         keepsMemory(producer, consumer);
}

/// Computes in `consumer` what it alone reads, as long as that is worth it.
/// Upstream's patterns would take the inits of other operations, too, which say
/// what memory a result is to have.
static void fuseProducers(RewriterBase &rewriter, linalg::GenericOp consumer) {
  auto isFusable = [](OpOperand &operand) {
    return linalg::areElementwiseOpsFusable(&operand) &&
           isWorthFusing(&operand);
  };
  while (true) {
    auto operands = consumer->getOpOperands();
    auto *operand = llvm::find_if(operands, isFusable);
    if (operand == operands.end())
      return;
    Operation *producer = operand->get().getDefiningOp();
    rewriter.setInsertionPoint(consumer);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(fused))
      return;
    for (OpResult result : consumer->getResults())
      rewriter.replaceAllUsesWith(result, fused->replacements.lookup(result));
    rewriter.eraseOp(consumer);
    rewriter.eraseOp(producer);
    consumer = cast<linalg::GenericOp>(fused->fusedOp);
  }
}

namespace {
struct FuseElementwisePass
    : fad::impl::FadFuseElementwiseBase<FuseElementwisePass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    // From the last one on: those that are fused and gone come before it.
    llvm::SmallPtrSet<Operation *, 8> gone;
    IRRewriter rewriter(&getContext());
    struct Listener : RewriterBase::Listener {
      explicit Listener(llvm::SmallPtrSetImpl<Operation *> &gone)
          : gone(gone) {}
      void notifyOperationErased(Operation *op) override { gone.insert(op); }
      llvm::SmallPtrSetImpl<Operation *> &gone;
    } listener(gone);
    rewriter.setListener(&listener);
    for (linalg::GenericOp op : llvm::reverse(ops))
      if (!gone.contains(op))
        fuseProducers(rewriter, op);
  }
};
} // namespace
