//===- TensorGatherRules.cpp - Reverse rules of gather and scatter --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/Expr.h"
#include "fad/Interfaces/Slices.h"

using namespace mlir;
using namespace mlir::fad;

/// `tensor` without the dimensions in `dropped`, which have size 1.
static Value dropDims(OpBuilder &b, Location loc, Value tensor,
                      ArrayRef<int64_t> dropped) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(dim)))
      shape.push_back(size);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> steps(type.getRank(), b.getIndexAttr(1));
  return extractSlice(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, tensor::getMixedSizes(b, loc, tensor), steps);
}

/// The index number `number` at each place of `indices`.
static Value selectCoordinate(OpBuilder &b, Location loc, Value indices,
                              int64_t number) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, indices);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> steps(type.getRank(), b.getIndexAttr(1));
  offsets.back() = b.getIndexAttr(number);
  sizes.back() = b.getIndexAttr(1);
  return extractSlice(
      b, loc,
      RankedTensorType::get(type.getShape().drop_back(), type.getElementType()),
      indices, offsets, sizes, steps);
}

/// `tensor` with elements of type `elementType`.
static Value convertElements(OpBuilder &b, Location loc, Value tensor,
                             Type elementType) {
  if (getElementTypeOrSelf(tensor) == elementType)
    return tensor;
  return ElementwiseOp::create(
             b, loc, tensor,
             [&](OpBuilder &inner, Location loc, ValueRange elements) {
               ExprBuilder eb(inner, loc, elementType);
               return SmallVector<Value>{
                   convert(Expr(eb, elements[0]), elementType).getValue()};
             })
      ->getResult(0);
}

namespace {
/// y = slices of x: x' = the sum of the slices of y' in their places.
struct Gather : ViewRule<Gather, tensor::GatherOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    Location loc = op.getLoc();
    SmallVector<Value> indices;
    for (int64_t number : llvm::seq<int64_t>(op.getGatherDims().size()))
      indices.push_back(selectCoordinate(b, loc, op.getIndices(), number));
    int64_t batchRank = op.getIndices().getType().getRank() - 1;
    int64_t rank = op.getSource().getType().getRank();
    if (op.getResult().getType().getRank() == batchRank + rank) {
      SmallVector<int64_t> unitDims;
      for (int64_t dim : op.getGatherDims())
        unitDims.push_back(batchRank + dim);
      cotangent = dropDims(b, loc, cotangent, unitDims);
    }
    // Slices for the same place are added up in the tangent type.
    Type elementType = op.getSource().getType().getElementType();
    Type tangentType = getTangentType(elementType);
    cotangent = convertElements(b, loc, cotangent, tangentType);
    Value empty = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, op.getSource()), tangentType,
        op.getSource().getType().getEncoding());
    Value zeros = makeZerosLike(b, loc, empty);
    Value sum = ScatterAddOp::create(b, loc, zeros.getType(), cotangent, zeros,
                                     indices, op.getGatherDims());
    return convertElements(b, loc, sum, elementType);
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

void fad::attachTensorGatherRules(MLIRContext *context) {
  attachRules<Gather, Scatter>(context);
}
