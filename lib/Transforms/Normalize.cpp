//===- Normalize.cpp - Exported forms to those that rules cover -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Sources.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADNORMALIZE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Operations that upstream writes in terms of others
//===----------------------------------------------------------------------===//

namespace {
/// linalg.softmax and the like to structured operations.
struct DecomposeAggregate
    : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
      return rewriter.notifyMatchFailure(op, "is not on tensors");
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

struct LowerGenerate : OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GenerateOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::rewriteInDestinationPassingStyle(rewriter, op);
  }
};

/// A border that is computed to a fill or a loop, and an insertion: the rule of
/// tensor.pad is for constant borders.
struct LowerComputedPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value border = op.getConstantPaddingValue();
    if (border && matchPattern(border, m_Constant()))
      return rewriter.notifyMatchFailure(op, "has a constant border");
    return linalg::rewriteInDestinationPassingStyle(rewriter, op);
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

namespace {
/// tensor.gather to a loop over the elements of its result.
struct LowerGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value init =
        tensor::EmptyOp::create(rewriter, loc, getSizes(op, rewriter),
                                type.getElementType(), type.getEncoding());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto body = [&](OpBuilder &inside, Location, ValueRange) {
      Value element = readElement(op, inside);
      linalg::YieldOp::create(inside, loc, element);
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), ValueRange(), init,
        rewriter.getMultiDimIdentityMap(type.getRank()), iterators, body);
    return success();
  }

private:
  /// The number of dimensions of the result that say where to read.
  static int64_t getNumBatchDims(tensor::GatherOp op) {
    return op.getIndices().getType().getRank() - 1;
  }

  /// The dimension of the result that runs over each dimension of the source;
  /// nothing for those that are gathered.
  static SmallVector<std::optional<int64_t>> getSliceDims(tensor::GatherOp op) {
    int64_t rank = op.getSource().getType().getRank();
    int64_t next = getNumBatchDims(op);
    bool keepsUnitDims = op.getResult().getType().getRank() == next + rank;
    SmallVector<std::optional<int64_t>> dims(rank);
    for (int64_t dim : llvm::seq(rank)) {
      bool isGathered = llvm::is_contained(op.getGatherDims(), dim);
      if (!isGathered)
        dims[dim] = next;
      next += keepsUnitDims || !isGathered;
    }
    return dims;
  }

  static SmallVector<OpFoldResult> getSizes(tensor::GatherOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes(op.getResult().getType().getRank(),
                                    b.getIndexAttr(1));
    for (int64_t dim : llvm::seq(getNumBatchDims(op)))
      sizes[dim] = tensor::getMixedSize(b, loc, op.getIndices(), dim);
    for (auto [dim, position] : llvm::enumerate(getSliceDims(op)))
      if (position)
        sizes[*position] = tensor::getMixedSize(b, loc, op.getSource(), dim);
    return sizes;
  }

  static Value readElement(tensor::GatherOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    SmallVector<Value> place;
    for (int64_t dim : llvm::seq(getNumBatchDims(op)))
      place.push_back(linalg::IndexOp::create(b, loc, dim));
    SmallVector<Value> position(op.getSource().getType().getRank());
    for (auto [dim, slice] : llvm::enumerate(getSliceDims(op)))
      if (slice)
        position[dim] = linalg::IndexOp::create(b, loc, *slice);
    for (auto [number, dim] : llvm::enumerate(op.getGatherDims())) {
      place.push_back(arith::ConstantIndexOp::create(b, loc, number));
      Value index = tensor::ExtractOp::create(b, loc, op.getIndices(), place);
      place.pop_back();
      if (!index.getType().isIndex())
        index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
      position[dim] = index;
    }
    return tensor::ExtractOp::create(b, loc, op.getSource(), position);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Captured scalars
//===----------------------------------------------------------------------===//

namespace {
/// Makes the scalars that a body captures operands, where they may depend on
/// what is differentiated: rules are for operands.
struct PassCapturedScalars : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    llvm::SetVector<Value> captures;
    getUsedValuesDefinedAbove(op.getRegion(), captures);
    captures.remove_if([](Value value) {
      return !isa<FloatType>(value.getType()) || !mayHaveTangent(value);
    });
    if (captures.empty() || !op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "captures no such scalar");

    SmallVector<Value> inputs(op.getInputs());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned position = inputs.size();
    for (Value scalar : captures) {
      auto type = RankedTensorType::get({}, scalar.getType());
      inputs.push_back(
          tensor::FromElementsOp::create(rewriter, op.getLoc(), type, scalar));
      maps.insert(maps.begin() + position,
                  AffineMap::get(op.getNumLoops(), 0, op.getContext()));
    }
    auto passed = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(),
        maps, op.getIteratorTypesArray());
    passed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getRegion(), passed.getRegion(),
                                passed.getRegion().begin());
    for (Value scalar : captures) {
      BlockArgument argument = passed.getBody()->insertArgument(
          position++, scalar.getType(), scalar.getLoc());
      rewriter.replaceUsesWithIf(scalar, argument, [&](OpOperand &use) {
        return passed.getRegion().isAncestor(use.getOwner()->getParentRegion());
      });
    }
    rewriter.replaceOp(op, passed);
    return success();
  }
};

struct FadNormalizePass : fad::impl::FadNormalizeBase<FadNormalizePass> {
  using FadNormalizeBase::FadNormalizeBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet formPatterns(context);
    formPatterns.add<DecomposeAggregate, LowerComputedPad, LowerGather,
                     LowerGenerate, LowerPack, LowerUnPack>(context);
    forms = std::move(formPatterns);
    RewritePatternSet capturePatterns(context);
    capturePatterns.add<PassCapturedScalars>(context);
    captures = std::move(capturePatterns);
    return success();
  }

  void runOnOperation() override {
    // The walk does not come back to what it has made. It folds nothing: a
    // tape sees the rest as it was written.
    walkAndApplyPatterns(getOperation(), forms);
    walkAndApplyPatterns(getOperation(), captures);
  }

private:
  FrozenRewritePatternSet forms;
  FrozenRewritePatternSet captures;
};
} // namespace
