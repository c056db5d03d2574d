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

namespace mlir::fad {
#define GEN_PASS_DEF_FADCHECKINITS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The operation that makes `tensor` without defining its elements, if any.
static Operation *findUndefined(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    auto allocation = dyn_cast<bufferization::AllocTensorOp>(op);
    if (isa<tensor::EmptyOp>(op) || (allocation && !allocation.getCopy()))
      return op;
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::ReshapeOp>(op))
      return nullptr;
    tensor = op->getOperand(0);
  }
  return nullptr;
}

static bool adds(linalg::LinalgOp op, OpOperand &init) {
  return llvm::all_of(
      op.getMatchingBlockArgument(&init).getUsers(),
      llvm::IsaPred<arith::AddFOp, arith::AddIOp, complex::AddOp>);
}

/// Warns if `op` reads elements of `init` that nothing has written.
static void check(DestinationStyleOpInterface op, OpOperand &init) {
  auto type = dyn_cast<RankedTensorType>(init.get().getType());
  if (!type || llvm::is_contained(type.getShape(), 0) ||
      op.getTiedOpResult(&init).use_empty())
    return;
  bool isSum = isa<ConvolveOp, ScatterAddOp>(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation())) {
    // A body that knows its iteration may leave out what nothing has written.
    if (!structured.payloadUsesValueFromOperand(&init) ||
        structured.hasIndexSemantics())
      return;
    isSum = adds(structured, init);
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
