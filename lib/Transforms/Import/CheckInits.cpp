//===- CheckInits.cpp - Sums into undefined elements ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADCHECKINITS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The operation that makes `tensor` without defining its elements, if any.
static Operation *findUndefined(Value tensor) {
  while (true) {
    // A loop begins with its initial value.
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      if (auto loop =
              dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp()))
        if (OpOperand *init = loop.getTiedLoopInit(argument)) {
          tensor = init->get();
          continue;
        }
    Operation *op = tensor.getDefiningOp();
    if (!op)
      return nullptr;
    auto allocation = dyn_cast<bufferization::AllocTensorOp>(op);
    if (isa<tensor::EmptyOp>(op) || (allocation && !allocation.getCopy()))
      return op;
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::ReshapeOp>(op))
      return nullptr;
    tensor = op->getOperand(0);
  }
}

/// The operations of the body that read elements of `init`, for a result.
static SmallVector<Operation *> findReaders(linalg::LinalgOp op,
                                            OpOperand &init) {
  return llvm::to_vector(llvm::make_filter_range(
      op.getMatchingBlockArgument(&init).getUsers(),
      [](Operation *user) { return !isOpTriviallyDead(user); }));
}

/// Warns if `op` reads elements of `init` that nothing has written.
static void check(DestinationStyleOpInterface op, OpOperand &init) {
  auto type = dyn_cast<RankedTensorType>(init.get().getType());
  if (!type || llvm::is_contained(type.getShape(), 0) ||
      llvm::all_of(op.getTiedOpResult(&init).getUsers(),
                   llvm::IsaPred<tensor::DimOp>))
    return;
  bool isSum = isa<ScatterAddOp>(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation())) {
    // A body that knows its iteration may leave out what nothing has written.
    SmallVector<Operation *> readers = findReaders(structured, init);
    if (readers.empty() || structured.hasIndexSemantics())
      return;
    isSum = llvm::all_of(
        readers, llvm::IsaPred<arith::AddFOp, arith::AddIOp, complex::AddOp>);
  } else if (!isSum) {
    return;
  }
  Operation *undefined = findUndefined(init.get());
  if (!undefined)
    return;
  op->emitWarning("'") << op->getName().getStringRef() << "' op "
                       << (isSum ? "adds to " : "reads ")
                       << undefined->getName().getStringRef()
                       << ", whose elements are undefined; "
                       << (isSum ? "fill it with zeros"
                                 : "fill it with the value to begin with");
}

namespace {
struct FadCheckInitsPass : fad::impl::FadCheckInitsBase<FadCheckInitsPass> {
  void runOnOperation() override {
    getOperation()->walk([](DestinationStyleOpInterface op) {
      for (OpOperand &init : op.getDpsInitsMutable())
        check(op, init);
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
