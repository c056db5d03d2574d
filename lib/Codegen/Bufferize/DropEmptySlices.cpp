//===- DropEmptySlices.cpp - Slices that begin at the end of a tensor -----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADDROPEMPTYSLICES
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether a slice of `whole` begins where one of its dimensions ends, as far
/// as types say that, also those before casts.
static bool beginsAtEnd(Value whole, ArrayRef<OpFoldResult> offsets) {
  while (true) {
    auto type = dyn_cast<RankedTensorType>(whole.getType());
    if (!type)
      return false;
    for (auto [size, offset] : llvm::zip_equal(type.getShape(), offsets)) {
      std::optional<int64_t> begin = getConstantIntValue(offset);
      if (begin && !ShapedType::isDynamic(size) && *begin >= size)
        return true;
    }
    auto cast = whole.getDefiningOp<tensor::CastOp>();
    if (!cast)
      return false;
    whole = cast.getSource();
  }
}

static void replaceByEmpty(RewriterBase &rewriter, tensor::ExtractSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped.test(dim))
      sizes.push_back(size);
  rewriter.setInsertionPoint(op);
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                        op.getType().getElementType());
  if (empty.getType() != op.getType())
    empty = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), empty);
  rewriter.replaceOp(op, empty);
}

namespace {
struct DropEmptySlicesPass
    : fad::impl::FadDropEmptySlicesBase<DropEmptySlicesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        if (beginsAtEnd(slice.getSource(), slice.getMixedOffsets()))
          replaceByEmpty(rewriter, slice);
      } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
        if (beginsAtEnd(slice.getDest(), slice.getMixedOffsets()))
          rewriter.replaceOp(slice, slice.getDest());
      }
    });
  }
};
} // namespace
