//===- ConvolveInterface.cpp - Interfaces of fad.convolve -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolveInterface.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
struct ConvolveInterface
    : bufferization::DstBufferizableOpInterfaceExternalModel<ConvolveInterface,
                                                             ConvolveOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto convolve = cast<ConvolveOp>(op);
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    ConvolveOp::create(rewriter, op->getLoc(), TypeRange(), buffers,
                       op->getAttrs());
    bufferization::replaceOpWithBufferizedValues(rewriter, convolve,
                                                 buffers[2]);
    return success();
  }
};

/// Asserts that each loop has one extent in all operands where it stands alone.
struct ConvolveVerification
    : RuntimeVerifiableOpInterface::ExternalModel<ConvolveVerification,
                                                  ConvolveOp> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> getMessage) const {
    auto getType = [&](OpOperand &operand) {
      return cast<ShapedType>(operand.get().getType());
    };
    auto convolve = cast<ConvolveOp>(op);
    SmallVector<AffineMap> maps = convolve.getMaps();
    // The operand and dimension that each loop is compared with.
    SmallVector<std::pair<OpOperand *, int64_t>> extents(maps[0].getNumDims());
    for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), maps)) {
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop)
          continue;
        auto &[first, firstDim] = extents[loop.getPosition()];
        if (!first) {
          first = &operand;
          firstDim = dim;
          continue;
        }
        // The verifier of the operation compares sizes that are known.
        if (!getType(*first).isDynamicDim(firstDim) &&
            !getType(operand).isDynamicDim(dim))
          continue;
        Value extent =
            linalg::createOrFoldDimOp(builder, loc, first->get(), firstDim);
        Value size =
            linalg::createOrFoldDimOp(builder, loc, operand.get(), dim);
        Value isEqual = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::eq, extent, size);
        std::string detail =
            llvm::formatv("dimension #{0} of operand #{1} is not the extent of "
                          "d{2}, which is dimension #{3} of operand #{4}",
                          dim, operand.getOperandNumber(), loop.getPosition(),
                          firstDim, first->getOperandNumber());
        cf::AssertOp::create(builder, loc, isEqual, getMessage(op, detail));
      }
    }
  }
};
} // namespace

void fad::registerConvolveInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FadDialect *) {
    ConvolveOp::attachInterface<ConvolveInterface, ConvolveVerification>(
        *context);
    context->loadDialect<cf::ControlFlowDialect, linalg::LinalgDialect>();
  });
}
