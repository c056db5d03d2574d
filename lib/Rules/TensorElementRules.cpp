//===- TensorElementRules.cpp - Reverse rules of elements of tensors ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// y = x[i]: x' = y' at i of zeros.
struct Extract : AdjointRule<Extract, tensor::ExtractOp> {
  static LogicalResult buildAdjoint(AdjointBuilder &adjoint, Op op,
                                    ValueRange cotangents) {
    adjoint.addElementCotangent(op, cotangents.front());
    return success();
  }
};

/// y = z with x at i: x' = y'[i], z' = y' with zero there.
struct Insert : OperandRule<Insert, tensor::InsertOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    if (operand == op.getScalarMutable().getOperandNumber())
      return tensor::ExtractOp::create(b, op.getLoc(), cotangent,
                                       op.getIndices());
    if (operand != op.getDestMutable().getOperandNumber())
      return Value();
    Value zero = makeZerosLike(b, op.getLoc(), op.getScalar());
    return tensor::InsertOp::create(b, op.getLoc(), zero, cotangent,
                                    op.getIndices());
  }
};

/// y = [x0, x1, ...]: xi' = y'[i].
struct FromElements : OperandRule<FromElements, tensor::FromElementsOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    Location loc = op.getLoc();
    SmallVector<Value> indices;
    for (int64_t index :
         delinearize(operand, computeStrides(op.getType().getShape())))
      indices.push_back(arith::ConstantIndexOp::create(b, loc, index));
    return tensor::ExtractOp::create(b, loc, cotangent, indices);
  }
};

/// y = x everywhere: x' = the sum of y', rounded once.
struct Splat : ViewRule<Splat, tensor::SplatOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    return sumElements(b, op.getLoc(), cotangent, op.getInput().getType());
  }
};

/// y = z with slices x in their places: x' = these slices of y', z' = y' with
/// zeros in their place.
struct Scatter : OperandRule<Scatter, tensor::ScatterOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    if (operand == op.getSourceMutable().getOperandNumber())
      return tensor::GatherOp::create(b, op.getLoc(), op.getSource().getType(),
                                      cotangent, op.getIndices(),
                                      op.getScatterDims(), op.getUnique());
    if (operand != op.getDestMutable().getOperandNumber())
      return Value();
    Value zeros = makeZerosLike(b, op.getLoc(), op.getSource());
    return tensor::ScatterOp::create(b, op.getLoc(), op.getType(), zeros,
                                     cotangent, op.getIndices(),
                                     op.getScatterDims(), op.getUnique());
  }
};
} // namespace

void fad::attachTensorElementRules(MLIRContext *context) {
  attachRules<Extract, FromElements, Insert, Scatter, Splat>(context);
}
