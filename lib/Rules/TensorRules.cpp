//===- TensorRules.cpp - Reverse rules of the tensor dialect --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/Rules/Rules.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// y = reshape(x) to more dimensions: x' = reshape(y') to fewer.
struct ExpandShape : ViewRule<ExpandShape, tensor::ExpandShapeOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    return tensor::CollapseShapeOp::create(b, op.getLoc(), op.getSrcType(),
                                           cotangent,
                                           op.getReassociationIndices());
  }
};

/// y = reshape(x) to fewer dimensions: x' = reshape(y') to those of x.
struct CollapseShape : ViewRule<CollapseShape, tensor::CollapseShapeOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    return tensor::ExpandShapeOp::create(
        b, op.getLoc(), op.getSrcType(), cotangent,
        op.getReassociationIndices(),
        tensor::getMixedSizes(b, op.getLoc(), op.getSrc()));
  }
};

/// y = x with another static shape: x' = y' with that of x.
struct Cast : ViewRule<Cast, tensor::CastOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    return tensor::CastOp::create(b, op.getLoc(), op.getSource().getType(),
                                  cotangent);
  }
};

/// y = x in another shape: x' = y' in that of x.
struct Reshape : ViewRule<Reshape, tensor::ReshapeOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    auto type = cast<RankedTensorType>(op.getSource().getType());
    Location loc = op.getLoc();
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSizes(b, loc, op.getSource()));
    auto shapeType = RankedTensorType::get(type.getRank(), b.getIndexType());
    Value shape = tensor::FromElementsOp::create(b, loc, shapeType, sizes);
    return tensor::ReshapeOp::create(b, loc, type, cotangent, shape);
  }
};
} // namespace

void fad::registerTensorRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachRules<Cast, CollapseShape, ExpandShape, Reshape>(context);
    attachTensorElementRules(context);
    attachTensorSliceRules(context);
  });
}
