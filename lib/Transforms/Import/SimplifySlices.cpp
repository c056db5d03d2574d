//===- SimplifySlices.cpp - Tensor slices that upstream cannot lower ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ChangeListener.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSIMPLIFYSLICES
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The dynamic sizes of the result of `op`, or nothing if they are unknown.
static std::optional<SmallVector<Value>> getDynamicSizes(OpBuilder &b,
                                                         Operation *op) {
  ReifiedRankedShapedTypeDims sizes;
  if (failed(reifyResultShapes(b, op, sizes)))
    return std::nullopt;
  SmallVector<Value> dynamic;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (auto [size, known] : llvm::zip_equal(sizes.front(), type.getShape()))
    if (ShapedType::isDynamic(known))
      dynamic.push_back(getValueOrCreateConstantIndexOp(b, op->getLoc(), size));
  return dynamic;
}

namespace {
/// Along a dimension of size 1, the stride has no effect. Upstream finds the
/// dimensions that a slice drops by comparing its strides with those of the
/// source, and fails for other strides.
template <typename Op> struct RemoveUnitStrides : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> strides = op.getMixedStrides();
    bool changed = false;
    for (auto [size, stride] : llvm::zip_equal(op.getMixedSizes(), strides)) {
      if (!isOneInteger(size) || isOneInteger(stride))
        continue;
      stride = rewriter.getIndexAttr(1);
      changed = true;
    }
    if (!changed)
      return failure();
    SmallVector<Value> dynamic;
    SmallVector<int64_t> known;
    dispatchIndexOpFoldResults(strides, dynamic, known);
    rewriter.modifyOpInPlace(op, [&] {
      op.getStridesMutable().assign(dynamic);
      op.setStaticStrides(known);
    });
    return success();
  }
};

/// The dimensions of a slice, where each dropped one is grouped with the one
/// before or after it.
static SmallVector<ReassociationIndices>
groupDropped(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  for (unsigned i = 0; i < dropped.size(); ++i) {
    group.push_back(i);
    if (!dropped[i])
      groups.push_back(std::exchange(group, {}));
  }
  if (!groups.empty())
    llvm::append_range(groups.back(), group);
  return groups;
}

/// Whether `op` skips elements and drops dimensions. Upstream identifies
/// dropped dimensions by the strides of buffers, which may be ambiguous.
template <typename Op>
static bool stepsAndDrops(Op op, const llvm::SmallBitVector &dropped) {
  return dropped.any() &&
         llvm::any_of(llvm::zip_equal(op.getMixedSizes(), op.getMixedStrides()),
                      [](auto each) {
                        auto [size, stride] = each;
                        return !isOneInteger(size) && !isOneInteger(stride);
                      });
}

/// Splits a slice into one that keeps its dimensions and a reshape that drops
/// them.
struct DropAfterExtract : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    llvm::SmallBitVector dropped = op.getDroppedDims();
    if (!stepsAndDrops(op, dropped))
      return failure();
    Value whole = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), op.getSource(), op.getMixedOffsets(),
        op.getMixedSizes(), op.getMixedStrides());
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        op, op.getType(), whole, groupDropped(dropped));
    return success();
  }
};

struct ExpandBeforeInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    llvm::SmallBitVector dropped = op.getDroppedDims();
    if (!stepsAndDrops(op, dropped))
      return failure();
    RankedTensorType narrow = op.getSourceType();
    SmallVector<int64_t> shape;
    for (unsigned i = 0, next = 0; i < dropped.size(); ++i)
      shape.push_back(dropped[i] ? 1 : narrow.getDimSize(next++));
    auto type = RankedTensorType::get(shape, narrow.getElementType(),
                                      narrow.getEncoding());
    Value wide = tensor::ExpandShapeOp::create(
        rewriter, op.getLoc(), type, op.getSource(), groupDropped(dropped));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, wide, op.getDest(), op.getMixedOffsets(), op.getMixedSizes(),
        op.getMixedStrides());
    return success();
  }
};

/// Removes empty operands of a concatenation.
struct ConcatenateNothing : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(op.getResultType().getShape(), 0))
      return failure();
    auto sizes = getDynamicSizes(rewriter, op);
    if (!sizes)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, op.getResultType(),
                                                 *sizes);
    return success();
  }
};

/// Leaves out operands without elements. They may lie behind the end of the
/// result, which upstream's verifier takes for an error.
struct ConcatenateElements : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    auto getSize = [&](Value input) {
      return cast<RankedTensorType>(input.getType()).getDimSize(op.getDim());
    };
    int64_t known = 0;
    for (Value input : op.getInputs())
      if (!ShapedType::isDynamic(getSize(input)))
        known += getSize(input);
    // A dynamic size is 0 if the other operands make up the result.
    bool isWhole = op.getResultType().getDimSize(op.getDim()) == known;
    SmallVector<Value> inputs =
        llvm::filter_to_vector(op.getInputs(), [&](Value input) {
          int64_t size = getSize(input);
          return size != 0 && !(isWhole && ShapedType::isDynamic(size));
        });
    if (inputs.empty() || inputs.size() == op.getInputs().size())
      return failure();
    if (inputs.size() > 1)
      rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, op.getResultType(),
                                                    op.getDim(), inputs);
    else
      rewriter.replaceOp(op, castTo(rewriter, op, inputs.front()));
    return success();
  }

private:
  static Value castTo(OpBuilder &b, tensor::ConcatOp op, Value input) {
    return input.getType() == op.getType()
               ? input
               : tensor::CastOp::create(b, op.getLoc(), op.getType(), input);
  }
};

/// A padding of an empty tensor consists of the border.
struct PadNothing : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOfNothing(op))
      return failure();
    auto sizes = getDynamicSizes(rewriter, op);
    if (!sizes)
      return failure();
    Location loc = op.getLoc();
    Value border = op.getConstantPaddingValue();
    // A constant in the region would be erased with it.
    if (border && border.getParentRegion() != &op.getRegion()) {
      Value empty =
          tensor::EmptyOp::create(rewriter, loc, op.getResultType(), *sizes);
      rewriter.replaceOpWithNewOp<linalg::FillOp>(op, border, empty);
      return success();
    }
    auto generate =
        tensor::GenerateOp::create(rewriter, loc, op.getResultType(), *sizes);
    rewriter.inlineRegionBefore(op.getRegion(), generate.getBody(),
                                generate.getBody().end());
    rewriter.replaceOp(op, generate);
    return success();
  }

private:
  static bool isOfNothing(tensor::PadOp op) {
    for (auto [size, padded, low, high] : llvm::zip_equal(
             op.getSourceType().getShape(), op.getResultType().getShape(),
             op.getStaticLow(), op.getStaticHigh())) {
      if (size == 0)
        return true;
      // A border may remove all elements.
      if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(low) &&
          !ShapedType::isDynamic(high) &&
          size + std::min<int64_t>(low, 0) == -std::min<int64_t>(high, 0))
        return true;
      if (ShapedType::isDynamic(size) && !ShapedType::isDynamic(padded) &&
          !ShapedType::isDynamic(low) && !ShapedType::isDynamic(high) &&
          low + high == padded)
        return true;
    }
    return false;
  }
};

/// Dimensions of which one is 0 and another is dynamic are 0 together, which
/// upstream's verifier of buffers takes for dynamic.
struct CollapseNothing : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getSrcType().getShape();
    if (!llvm::is_contained(shape, 0) || !ShapedType::isDynamicShape(shape))
      return failure();
    std::optional<SmallVector<Value>> sizes = getDynamicSizes(rewriter, op);
    if (!sizes)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, op.getType(), *sizes);
    return success();
  }
};

struct FadSimplifySlicesPass
    : fad::impl::FadSimplifySlicesBase<FadSimplifySlicesPass> {
  using FadSimplifySlicesBase::FadSimplifySlicesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    // An operation is visited once; with its dimensions, it may have any
    // stride.
    patterns.add<DropAfterExtract, ExpandBeforeInsert>(&getContext(),
                                                       /*benefit=*/2);
    patterns.add<CollapseNothing, ConcatenateElements, ConcatenateNothing,
                 PadNothing, RemoveUnitStrides<tensor::ExtractSliceOp>,
                 RemoveUnitStrides<tensor::InsertSliceOp>>(&getContext());
    ChangeListener listener;
    walkAndApplyPatterns(getOperation(), std::move(patterns), &listener);
    if (!listener.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace
