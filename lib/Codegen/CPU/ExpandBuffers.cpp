//===- ExpandBuffers.cpp - Views that split a size into several -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADEXPANDBUFFERS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether `op` splits one size into several that are known only at run time.
static bool splitsIntoDynamicSizes(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  auto isDynamic = [&](int64_t dim) { return type.isDynamicDim(dim); };
  return llvm::any_of(op.getReassociationIndices(),
                      [&](ArrayRef<int64_t> dims) {
                        return llvm::count_if(dims, isDynamic) > 1;
                      });
}

/// The strides of the result of `op`, given those of its source.
static SmallVector<OpFoldResult>
computeStrides(OpBuilder &b, memref::ExpandShapeOp op, ValueRange strides) {
  Location loc = op.getLoc();
  SmallVector<int64_t> known = op.getResultType().getStridesAndOffset().first;
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> expanded(sizes.size());
  for (auto [group, dims] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = strides[group];
    for (int64_t dim : llvm::reverse(dims)) {
      expanded[dim] = ShapedType::isDynamic(known[dim])
                          ? stride
                          : OpFoldResult(b.getIndexAttr(known[dim]));
      stride =
          arith::MulIOp::create(
              b, loc, getValueOrCreateConstantIndexOp(b, loc, expanded[dim]),
              getValueOrCreateConstantIndexOp(b, loc, sizes[dim]))
              .getResult();
    }
  }
  return expanded;
}

static void reinterpret(RewriterBase &rewriter, memref::ExpandShapeOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto source =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  int64_t offset = op.getResultType().getStridesAndOffset().second;
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), source.getBaseBuffer(),
      ShapedType::isDynamic(offset) ? OpFoldResult(source.getOffset())
                                    : rewriter.getIndexAttr(offset),
      op.getMixedOutputShape(),
      computeStrides(rewriter, op, source.getStrides()));
}

namespace {
struct ExpandBuffersPass : fad::impl::FadExpandBuffersBase<ExpandBuffersPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](memref::ExpandShapeOp op) {
      if (splitsIntoDynamicSizes(op))
        reinterpret(rewriter, op);
    });
  }
};
} // namespace
