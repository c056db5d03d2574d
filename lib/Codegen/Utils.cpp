//===- Utils.cpp - Helpers of the passes out of the dialect --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
