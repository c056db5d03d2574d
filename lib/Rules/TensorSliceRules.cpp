//===- TensorSliceRules.cpp - Reverse rules of slices of tensors ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorRules.h"
#include "fad/Interfaces/Slices.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fad;

/// The slice of `tensor` from `offsets` on with the type and sizes of `like`.
static Value extractLike(OpBuilder &b, Location loc, Value tensor,
                         ArrayRef<OpFoldResult> offsets, Value like) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, like);
  SmallVector<OpFoldResult> ones(offsets.size(), b.getIndexAttr(1));
  return extractSlice(b, loc, cast<RankedTensorType>(like.getType()), tensor,
                      offsets, sizes, ones);
}

namespace {
/// y = x with a border: x' = y' without it.
struct Pad : ViewRule<Pad, tensor::PadOp> {
  static FailureOr<Value> pullback(OpBuilder &b, Op op, Value cotangent) {
    for (ArrayRef<int64_t> border : {op.getStaticLow(), op.getStaticHigh()})
      for (int64_t size : border)
        if (size < 0 && !ShapedType::isDynamic(size))
          return op.emitOpError("pads by ")
                     << size
                     << ", a negative number, which has no reverse rule; cut "
                        "elements off with tensor.extract_slice, as "
                        "--fad-normalize does",
                 failure();
    return extractLike(b, op.getLoc(), cotangent, op.getMixedLowPad(),
                       op.getSource());
  }
};

/// y = x[slice]: x' = y' at the slice of zeros.
/// y = z with x at a slice: x' = y'[slice], z' = y' with zeros there.
struct InsertSlice : OperandRule<InsertSlice, tensor::InsertSliceOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    if (operand == op.getSourceMutable().getOperandNumber())
      return extractSlice(b, op.getLoc(), op.getSourceType(), cotangent,
                          op.getMixedOffsets(), op.getMixedSizes(),
                          op.getMixedStrides());
    if (operand != op.getDestMutable().getOperandNumber())
      return Value();
    Value zeros = createZerosLike(b, op.getLoc(), op.getSource());
    return insertSlice(b, op.getLoc(), zeros, cotangent, op.getMixedOffsets(),
                       op.getMixedSizes(), op.getMixedStrides());
  }
};

} // namespace

void fad::attachTensorSliceRules(MLIRContext *context) {
  attachPullbacks<InsertSlice, Pad>(context);
}
