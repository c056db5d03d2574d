//===- ScatterAddOp.cpp - fad.scatter_add ---------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

SmallVector<int64_t> ScatterAddOp::getSliceDims() {
  SmallVector<int64_t> slice;
  for (int64_t dim = 0, rank = getInit().getType().getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(getDims(), dim))
      slice.push_back(dim);
  return slice;
}

LogicalResult
ScatterAddOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getInit()));
  return success();
}

LogicalResult ScatterAddOp::verify() {
  if (getIndices().empty())
    return emitOpError("expects at least one tensor of indices");
  ArrayRef<int64_t> dims = getDims();
  RankedTensorType init = getInit().getType();
  if (dims.size() != getIndices().size())
    return emitOpError("expects one dimension for each of its ")
           << getIndices().size() << " tensors of indices, but 'dims' has "
           << dims.size();
  for (auto [position, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= init.getRank() ||
        (position > 0 && dim <= dims[position - 1]))
      return emitOpError("expects 'dims' to be increasing and between 0 and "
                         "the rank of the result, ")
             << init.getRank() << ", but got [" << dims << "]";
  if (failed(verifyCompatibleShapes(getIndices().getTypes())))
    return emitOpError("expects all tensors of indices to have one shape");

  SmallVector<int64_t> shape(
      cast<RankedTensorType>(getIndices().front().getType()).getShape());
  for (int64_t dim : getSliceDims())
    shape.push_back(init.getDimSize(dim));
  if (failed(verifyCompatibleShape(shape, getUpdates().getType().getShape())))
    return emitOpError("expects updates of type ")
           << init.clone(shape)
           << " (the shape of the indices, then the dimensions of the result "
              "that are not in 'dims'), but got "
           << getUpdates().getType();
  return success();
}

bool ScatterAddOp::addsNothing() {
  return llvm::any_of(getOperandTypes(), [](Type type) {
    return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
  });
}

OpFoldResult ScatterAddOp::fold(FoldAdaptor) {
  if (addsNothing())
    return getInit();
  // Adding -0 preserves all values, zeros with their sign included.
  if (matchPattern(getUpdates(), m_NegZeroFloat()))
    return getInit();
  return {};
}
