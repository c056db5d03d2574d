//===- Utils.cpp - Helpers of the passes out of the dialect --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

Value fad::createEmptyLike(OpBuilder &builder, Location loc,
                           RankedTensorType type, Value source) {
  SmallVector<Value> sizes;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(builder, loc, source, i));
  return tensor::EmptyOp::create(builder, loc, type, sizes);
}

Value fad::collapseFirst(ImplicitLocOpBuilder &b, Value tensor, int64_t count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (count == 1)
    return tensor;
  SmallVector<ReassociationIndices> groups;
  if (count != 0) {
    groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, count)));
    for (int64_t dim = count; dim < type.getRank(); ++dim)
      groups.push_back({dim});
    return tensor::CollapseShapeOp::create(b, tensor, groups);
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  sizes.insert(sizes.begin(), b.getIndexAttr(1));
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back({dim + 1});
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), 0);
  return tensor::ExpandShapeOp::create(b, b.getLoc(), type.clone(shape), tensor,
                                       groups, sizes);
}

Value fad::createGeneric(
    ImplicitLocOpBuilder &b, ValueRange inputs, Value init,
    ArrayRef<AffineMap> maps, unsigned reductions,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  SmallVector<utils::IteratorType> iterators(
      maps.front().getNumDims() - reductions, utils::IteratorType::parallel);
  iterators.append(reductions, utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             b, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               linalg::YieldOp::create(inner, body(inner, arguments));
             })
      .getResult(0);
}

LogicalResult fad::checkRoundings(Operation *root) {
  auto result = root->walk([](arith::TruncFOp op) {
    auto mode = op.getRoundingmode();
    if (!mode || *mode == arith::RoundingMode::to_nearest_even)
      return WalkResult::advance();
    op.emitError("there are no instructions that round ")
        << getElementTypeOrSelf(op.getIn()) << " to "
        << getElementTypeOrSelf(op.getType()) << " by '"
        << arith::stringifyRoundingMode(*mode)
        << "'; leave it out, or set to_nearest_even";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
