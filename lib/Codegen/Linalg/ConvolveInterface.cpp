//===- ConvolveInterface.cpp - Bufferization of fad.convolve --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolveInterface.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

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
} // namespace

void fad::registerConvolveInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FadDialect *) {
    ConvolveOp::attachInterface<ConvolveInterface>(*context);
  });
}
