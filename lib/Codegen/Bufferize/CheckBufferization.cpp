//===- CheckBufferization.cpp - Operations without a form on buffers ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADCHECKBUFFERIZATION
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether upstream takes `op` for a write of all of its tensor, whose vector
/// has fewer dimensions: it compares the sizes of the first ones. The elements
/// that it leaves as they are would be lost.
static bool isTakenForWhole(Operation *op) {
  auto write = dyn_cast<vector::TransferWriteOp>(op);
  auto type = write ? dyn_cast<RankedTensorType>(write.getShapedType())
                    : RankedTensorType();
  if (!type || !type.hasStaticShape() || write.getMask() ||
      write.getBase().getDefiningOp<tensor::EmptyOp>())
    return false;
  ArrayRef<int64_t> written = write.getVectorType().getShape();
  auto isFirst = [](Value index) { return isConstantIntValue(index, 0); };
  return int64_t(written.size()) < type.getRank() &&
         llvm::all_of(write.getIndices(), isFirst) &&
         llvm::all_of(
             llvm::zip(type.getShape(), written),
             [](auto sizes) {
               return std::get<0>(sizes) <= std::get<1>(sizes);
             });
}

static LogicalResult check(Operation *op) {
  if (isTakenForWhole(op))
    return op->emitOpError(
        "was not bufferized, because upstream takes it for a write of the "
        "whole "
        "tensor; give the vector as many dimensions as the tensor has");
  if (isa<bufferization::BufferizableOpInterface, UnrealizedConversionCastOp>(
          op) ||
      (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) &&
       llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>)))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError("was not bufferized, because it has no form on buffers");
  if (std::optional<unsigned> tile = findDynamicTile(op))
    return diagnostic << " with " << describeTile(*tile);
  return diagnostic << "; rewrite it in terms of operations of linalg, scf and "
                       "tensor that have one";
}

namespace {
struct FadCheckBufferizationPass
    : fad::impl::FadCheckBufferizationBase<FadCheckBufferizationPass> {
  void runOnOperation() override {
    bool valid = true;
    getOperation()->walk([&](Operation *op) { valid &= succeeded(check(op)); });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
