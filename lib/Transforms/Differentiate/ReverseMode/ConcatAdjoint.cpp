//===- ConcatAdjoint.cpp - Adjoint of tensor.concat -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Slices.h"
#include "fad/Transforms/Differentiate/Adjoint.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;

/// The sum of two sizes, without an operation where it can be told.
static OpFoldResult addSizes(OpBuilder &b, Location loc, OpFoldResult lhs,
                             OpFoldResult rhs) {
  std::optional<int64_t> constant = getConstantIntValue(lhs);
  std::optional<int64_t> other = getConstantIntValue(rhs);
  if (constant && other)
    return b.getIndexAttr(*constant + *other);
  if (constant == 0)
    return rhs;
  return arith::AddIOp::create(b, loc,
                               getValueOrCreateConstantIndexOp(b, loc, lhs),
                               getValueOrCreateConstantIndexOp(b, loc, rhs))
      .getResult();
}

FailureOr<Cotangents> fad::buildAdjoint(AdjointBuilder &adjoint,
                                        tensor::ConcatOp op,
                                        ValueRange cotangents) {
  RewriterBase &b = adjoint.builder;
  Location loc = op.getLoc();
  int64_t rank = op.getResultType().getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  OpFoldResult &start = offsets[op.getDim()];
  Cotangents operands;
  for (Value input : op.getInputs()) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
    operands.push_back(adjoint.isVaried(input)
                           ? extractSlice(
                                 b, loc,
                                 cast<RankedTensorType>(input.getType()),
                                 cotangents.front(), offsets, sizes, ones)
                           : Value());
    start = addSizes(b, loc, start, sizes[op.getDim()]);
  }
  return operands;
}
