//===- TensorSliceRules.cpp - Reverse rules of slices of tensors ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/Interfaces/Slices.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

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

namespace {
/// y = [x0; x1; ...]: xi' = what y' has in its place. All at once, because one
/// operand after the other would add up the sizes of those before it again.
struct Concat : AdjointRule<Concat, tensor::ConcatOp> {
  static LogicalResult buildAdjoint(AdjointBuilder &adjoint, Op op,
                                    ValueRange cotangents) {
    RewriterBase &b = adjoint.rewriter;
    Location loc = op.getLoc();
    int64_t rank = op.getResultType().getRank();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
    OpFoldResult &start = offsets[op.getDim()];
    SmallVector<Value> operands;
    for (Value input : op.getInputs()) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
      operands.push_back(
          adjoint.isVaried(input)
              ? extractSlice(b, loc, cast<RankedTensorType>(input.getType()),
                             cotangents.front(), offsets, sizes, ones)
              : Value());
      start = addSizes(b, loc, start, sizes[op.getDim()]);
    }
    adjoint.addCotangents(op.getInputs(), operands);
    return success();
  }
};

/// y = x[slice]: x' = y' at the slice of zeros.
struct ExtractSlice : AdjointRule<ExtractSlice, tensor::ExtractSliceOp> {
  static LogicalResult buildAdjoint(AdjointBuilder &adjoint, Op op,
                                    ValueRange cotangents) {
    adjoint.addSliceCotangent(op, cotangents.front());
    return success();
  }
};

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
    Value zeros = makeZerosLike(b, op.getLoc(), op.getSource());
    return insertSlice(b, op.getLoc(), zeros, cotangent, op.getMixedOffsets(),
                       op.getMixedSizes(), op.getMixedStrides());
  }
};

} // namespace

void fad::attachTensorSliceRules(MLIRContext *context) {
  attachRules<Concat, ExtractSlice, InsertSlice, Pad>(context);
}
