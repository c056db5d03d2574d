//===- SizeOrigins.cpp - Origins of the sizes of tensors ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeOrigins.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::fad;

/// Follows the size of dimension `dim` of `tensor` one step towards its origin;
/// returns the origin unchanged.
static SizeKey followSize(Value tensor, int64_t dim) {
  Operation *def = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(def)) {
    if (!empty.getType().isDynamicDim(dim))
      return {tensor, dim};
    Value size = empty.getDynamicSize(dim);
    auto dimOp = size.getDefiningOp<tensor::DimOp>();
    if (!dimOp || !dimOp.getConstantIndex())
      return {size, -1};
    return {dimOp.getSource(), *dimOp.getConstantIndex()};
  }
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(def))
    return {destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim};
  if (auto elementwise = dyn_cast_or_null<ElementwiseOp>(def))
    return {elementwise.getShapeOperand(), dim};
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(def))
    return {cast.getSource(), dim};
  if (auto residual = dyn_cast_or_null<ResidualOp>(def))
    return {residual.getValue(), dim};
  return {tensor, dim};
}

SizeKey SizeOrigins::find(Value tensor, int64_t dim) {
  SmallVector<SizeKey> path;
  SizeKey key = {tensor, dim};
  while (key.second >= 0) {
    auto it = origins.find(key);
    SizeKey next =
        it == origins.end() ? followSize(key.first, key.second) : it->second;
    if (next == key)
      break;
    path.push_back(key);
    key = next;
  }
  for (SizeKey &step : path)
    origins[step] = key;
  return key;
}
