//===- Normalize.cpp - Exported forms to forms with rules -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ChangeListener.h"
#include "fad/Transforms/Utils/SmoothSums.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADNORMALIZE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Operations that upstream writes in terms of others
//===----------------------------------------------------------------------===//

/// Rewrites a computed border to a fill or a loop, and an insertion: the rule
/// of tensor.pad is for constant borders.
static LogicalResult lowerComputedPad(RewriterBase &rewriter,
                                      tensor::PadOp op) {
  Value border = op.getConstantPaddingValue();
  if (border && matchPattern(border, m_Constant()))
    return rewriter.notifyMatchFailure(op, "has a constant border");
  return linalg::rewriteInDestinationPassingStyle(rewriter, op);
}

namespace {
/// linalg.softmax and the like to structured operations.
struct DecomposeAggregate
    : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
      return rewriter.notifyMatchFailure(op, "is not on tensors");
    // Upstream has the sizes of either, some known of one alone, in one type.
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op.getOperation());
        softmax &&
        softmax.getInputOperandType() != softmax.getOutputOperandType()) {
      Value input = tensor::CastOp::create(rewriter, op.getLoc(),
                                           softmax.getOutputOperandType(),
                                           softmax.getInput());
      rewriter.modifyOpInPlace(
          softmax, [&] { softmax.getInputMutable().assign(input); });
    }
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

/// Inlines an scf.execute_region of one block.
struct InlineRegion : OpRewritePattern<scf::ExecuteRegionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ExecuteRegionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getRegion().hasOneBlock())
      return rewriter.notifyMatchFailure(op, "has several blocks");
    Block &block = op.getRegion().front();
    SmallVector<Value> yielded(block.getTerminator()->getOperands());
    rewriter.eraseOp(block.getTerminator());
    rewriter.inlineBlockBefore(&block, op);
    rewriter.replaceOp(op, yielded);
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

/// Rewrites a negative border to a tensor slice of the source and a padding of
/// this slice.
struct CutOff : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                              high = op.getMixedHighPad(), offsets, cut;
    // The number of elements that a border removes; such a border becomes 0.
    auto cutOff = [&](OpFoldResult &border) -> int64_t {
      std::optional<int64_t> size = getConstantIntValue(border);
      if (!size || *size >= 0)
        return 0;
      border = rewriter.getIndexAttr(0);
      return -*size;
    };
    bool any = false;
    for (auto [before, after, size] :
         llvm::zip_equal(low, high, op.getSourceType().getShape())) {
      int64_t first = cutOff(before), last = cutOff(after);
      int64_t total;
      if (llvm::AddOverflow(first, last, total) ||
          (!ShapedType::isDynamic(size) && total > size))
        return rewriter.notifyMatchFailure(op, "cuts off more than there is");
      // Upstream rejects empty slices, and slices behind the last element.
      if (size == 0 || (total > 0 && total == size))
        return rewriter.notifyMatchFailure(op, "cuts off all that there is");
      any |= first != 0 || last != 0;
      offsets.push_back(rewriter.getIndexAttr(first));
      cut.push_back(rewriter.getIndexAttr(total));
    }
    if (!any)
      return rewriter.notifyMatchFailure(op, "cuts nothing off");

    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, op.getSource());
    SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    AffineExpr whole, part;
    bindDims(rewriter.getContext(), whole, part);
    for (auto [size, less] : llvm::zip_equal(sizes, cut))
      size = affine::makeComposedFoldedAffineApply(rewriter, loc, whole - part,
                                                   {size, less});
    Value rest = tensor::ExtractSliceOp::create(rewriter, loc, op.getSource(),
                                                offsets, sizes, ones);
    auto padded = tensor::PadOp::create(rewriter, loc, op.getResultType(), rest,
                                        low, high, op.getNofold());
    rewriter.inlineRegionBefore(op.getRegion(), padded.getRegion(),
                                padded.getRegion().end());
    rewriter.replaceOp(op, padded);
    // The walk does not visit new operations.
    rewriter.setInsertionPoint(padded);
    (void)lowerComputedPad(rewriter, padded);
    return success();
  }
};

struct LowerComputedPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    return lowerComputedPad(rewriter, op);
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    if (findDynamicTile(op))
      return rewriter.notifyMatchFailure(op, "the size of a tile is a value");
    // Upstream takes the sizes of the transposed tensor from the destination.
    // So the transposition into it would not see that these are not its own.
    Value dest = op.getDest(), padding = op.getPaddingValue();
    rewriter.modifyOpInPlace(
        op, [&] { op.getDestMutable().assign(createFitting(rewriter, op)); });
    FailureOr<linalg::LowerPackResult> lowered =
        linalg::lowerPack(rewriter, op);
    if (failed(lowered))
      return failure();
    if (linalg::TransposeOp transpose = lowered->transposeOp)
      rewriter.modifyOpInPlace(
          transpose, [&] { transpose.getInitMutable().assign(dest); });
    if (tensor::PadOp pad = lowered->padOp)
      lowerPad(rewriter, pad, /*fillsTiles=*/bool(padding));
    return success();
  }

private:
  static void lowerPad(PatternRewriter &rewriter, tensor::PadOp pad,
                       bool fillsTiles) {
    rewriter.setInsertionPoint(pad);
    if (fillsTiles || pad.getResultType().hasStaticShape())
      // The walk does not visit new operations.
      return (void)lowerComputedPad(rewriter, pad);
    // Without a border, tiles have to be full: the reshape requires it.
    Value source = pad.getSource();
    if (source.getType() != pad.getResultType())
      source = tensor::CastOp::create(rewriter, pad.getLoc(),
                                      pad.getResultType(), source);
    rewriter.replaceOp(pad, source);
  }

  /// A destination that has the sizes which `op` needs where the type of its
  /// own does not tell them.
  static Value createFitting(PatternRewriter &rewriter, linalg::PackOp op) {
    RankedTensorType type = op.getDestType();
    if (type.hasStaticShape())
      return op.getDest();
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = linalg::PackOp::getResultShape(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getSource()),
        op.getMixedTiles(), op.getInnerDimsPos(), op.getOuterDimsPerm());
    SmallVector<Value> dynamic;
    for (auto [known, size] : llvm::zip_equal(type.getShape(), sizes))
      if (ShapedType::isDynamic(known))
        dynamic.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
    return tensor::EmptyOp::create(rewriter, loc, type, dynamic);
  }
};

/// Rewrites bufferization.materialize_in_destination, which has no adjoint, to
/// a copy.
struct LowerMaterialize
    : OpRewritePattern<bufferization::MaterializeInDestinationOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op.getDest().getType()))
      return rewriter.notifyMatchFailure(op, "is not on tensors");
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                op.getDest());
    return success();
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

std::optional<unsigned> fad::findDynamicTile(Operation *op) {
  auto pack = dyn_cast<linalg::PackOp>(op);
  if (!pack)
    return std::nullopt;
  SmallVector<int64_t> tiles = pack.getStaticTiles();
  auto *dynamic = llvm::find_if(tiles, ShapedType::isDynamic);
  if (dynamic == tiles.end())
    return std::nullopt;
  return dynamic - tiles.begin();
}

std::string fad::describeTile(unsigned number) {
  return "tile #" + std::to_string(number) +
         ", whose size is a value; write the size as a number in 'inner_tiles'";
}

namespace {
struct FadNormalizePass : fad::impl::FadNormalizeBase<FadNormalizePass> {
  using FadNormalizeBase::FadNormalizeBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet formPatterns(context);
    formPatterns.add<DecomposeAggregate, InlineRegion, LowerComputedPad,
                     LowerGenerate, LowerMaterialize, LowerPack, LowerUnPack>(
        context);
    // Before the border is looked at.
    formPatterns.add<CutOff>(context, /*benefit=*/2);
    populateGatherPatterns(formPatterns);
    // Before the operations of a sum are parts of several bodies.
    populateSmoothSumPatterns(formPatterns);
    forms = std::move(formPatterns);
    return success();
  }

  void runOnOperation() override {
    // The walk does not visit new operations. It folds nothing, so that a tape
    // sees the rest of the source program.
    ChangeListener listener;
    walkAndApplyPatterns(getOperation(), forms, &listener);
    if (!listener.hasChanged())
      markAllAnalysesPreserved();
  }

private:
  FrozenRewritePatternSet forms;
};
} // namespace
