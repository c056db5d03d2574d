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

namespace mlir::fad {
#define GEN_PASS_DEF_FADCHECKBUFFERIZATION
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

static LogicalResult check(Operation *op) {
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
