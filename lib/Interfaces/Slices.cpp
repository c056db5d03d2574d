//===- Slices.cpp - Tensor slices that upstream accepts -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Slices.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fad;

/// Whether a slice between tensors of types `part` and `whole` is known to have
/// no elements.
static bool isOfNothing(Type part, Type whole, ArrayRef<OpFoldResult> sizes) {
  return llvm::is_contained(cast<RankedTensorType>(part).getShape(), 0) ||
         llvm::is_contained(cast<RankedTensorType>(whole).getShape(), 0) ||
         llvm::any_of(sizes, isZeroInteger);
}

/// The dimensions of a slice of `sizes` that `type`, of the slice, leaves out;
/// nothing, if it is no type of such a slice.
static std::optional<llvm::SmallDenseSet<unsigned>>
findDropped(RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  SmallVector<int64_t> shape;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return computeRankReductionMask(shape, type.getShape(),
                                  /*matchDynamic=*/true);
}

Value fad::extractSlice(OpBuilder &b, Location loc, RankedTensorType type,
                        Value tensor, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        ArrayRef<OpFoldResult> strides) {
  if (!isOfNothing(type, tensor.getType(), sizes))
    return tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets, sizes,
                                          strides);
  std::optional<llvm::SmallDenseSet<unsigned>> dropped =
      findDropped(type, sizes);
  // The verifier says what is wrong with a slice of another type.
  if (!dropped)
    return tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets, sizes,
                                          strides);
  SmallVector<Value> unknown;
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped->contains(dim) && type.isDynamicDim(next++))
      unknown.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
  // Only the tensor tells that there is nothing: a size that does not fit to it
  // is to give defined elements.
  TypedAttr zero = b.getZeroAttr(type.getElementType());
  if (zero && !llvm::is_contained(type.getShape(), 0) &&
      llvm::none_of(sizes, isZeroInteger))
    return tensor::SplatOp::create(
        b, loc, type, arith::ConstantOp::create(b, loc, zero), unknown);
  return tensor::EmptyOp::create(b, loc, type, unknown);
}

Value fad::insertSlice(OpBuilder &b, Location loc, Value slice, Value tensor,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> strides) {
  if (isOfNothing(slice.getType(), tensor.getType(), sizes))
    return tensor;
  // The type of the slice has to be static where sizes are, and nowhere else.
  auto type = cast<RankedTensorType>(slice.getType());
  if (auto dropped = findDropped(type, sizes)) {
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!dropped->contains(dim))
        shape.push_back(
            getConstantIntValue(size).value_or(ShapedType::kDynamic));
    if (shape != type.getShape())
      slice = tensor::CastOp::create(b, loc, type.clone(shape), slice);
  }
  return tensor::InsertSliceOp::create(b, loc, slice, tensor, offsets, sizes,
                                       strides);
}
