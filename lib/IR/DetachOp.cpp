//===- DetachOp.cpp - fad.detach ------------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Detach.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;

LogicalResult
DetachOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getOperand()));
  return success();
}

OpFoldResult DetachOp::fold(FoldAdaptor adaptor) {
  // Constants have no gradient.
  if (Attribute constant = adaptor.getOperand())
    return constant;
  if (getOperand().getDefiningOp<DetachOp>())
    return getOperand();
  return {};
}

#define GET_OP_CLASSES
#include "fad/IR/FadDetach.cpp.inc"
