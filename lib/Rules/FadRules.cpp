//===- FadRules.cpp - Reverse rules of the fad dialect --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/IR/Fad.h"
#include "fad/Rules/Rules.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::fad;

/// `tensor` with one more index in each of `dims` that may have size 0, so that
/// an element to read always exists.
static Value makeReadable(ImplicitLocOpBuilder &b, Value tensor,
                          ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
  bool isReadable = true;
  for (int64_t dim : dims) {
    if (type.getDimSize(dim) > 0)
      continue;
    high[dim] = b.getIndexAttr(1);
    isReadable = false;
  }
  if (isReadable)
    return tensor;
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(b, Type(), tensor, low, high, zero);
}

/// In the body of an operation on the updates of `op`: the element of
/// `cotangent` to which the update was added, read from `readable`, or zero for
/// an update that was left out. `indices` are those of the update.
static Value readElement(ImplicitLocOpBuilder &b, ScatterAddOp op,
                         ArrayRef<Value> sizes, Value readable,
                         ValueRange indices) {
  SmallVector<Value> place(op.getType().getRank());
  Value zero = arith::ConstantIndexOp::create(b, 0), isInside;
  for (auto [dim, size, index] :
       llvm::zip_equal(op.getDims(), sizes, indices)) {
    Value position = index;
    if (!position.getType().isIndex())
      position = arith::IndexCastOp::create(b, b.getIndexType(), position);
    // A negative index is a large unsigned one.
    Value below =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position, size);
    place[dim] = arith::SelectOp::create(b, below, position, zero);
    isInside = isInside ? arith::AndIOp::create(b, isInside, below) : below;
  }
  for (auto [number, dim] : llvm::enumerate(op.getSliceDims()))
    place[dim] = linalg::IndexOp::create(b, op.getBatchRank() + number);
  Value element = tensor::ExtractOp::create(b, readable, place);
  Value nothing = makeZerosLike(b, b.getLoc(), element);
  return arith::SelectOp::create(b, isInside, element, nothing);
}

/// The elements of `cotangent` to which `op` adds its updates.
static Value gatherUpdates(OpBuilder &builder, ScatterAddOp op,
                           Value cotangent) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  SmallVector<Value> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(getValueOrCreateConstantIndexOp(
        b, b.getLoc(), tensor::getMixedSize(b, b.getLoc(), cotangent, dim)));
  Value readable = makeReadable(b, cotangent, op.getDims());

  auto type = cast<RankedTensorType>(op.getUpdates().getType());
  unsigned rank = type.getRank();
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), op.getUpdates()),
      type.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(
      op.getIndices().size(),
      AffineMap::get(rank, 0,
                     identity.getResults().take_front(op.getBatchRank()),
                     b.getContext()));
  maps.push_back(identity);
  return linalg::GenericOp::create(
             b, type, op.getIndices(), empty, maps,
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [&](OpBuilder &inner, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder body(loc, inner);
               Value element = readElement(body, op, sizes, readable,
                                           arguments.drop_back());
               linalg::YieldOp::create(body, element);
             })
      .getResult(0);
}

namespace {
/// y = z with updates x added: x' = y' at their places, z' = y'.
struct ScatterAdd : OperandRule<ScatterAdd, ScatterAddOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    if (operand == op.getUpdatesMutable().getOperandNumber())
      return gatherUpdates(b, op, cotangent);
    if (operand == op.getInitMutable().getOperandNumber())
      return cotangent;
    return Value();
  }
};
} // namespace

void fad::registerFadRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FadDialect *) {
    attachRules<ScatterAdd>(context);
  });
}
