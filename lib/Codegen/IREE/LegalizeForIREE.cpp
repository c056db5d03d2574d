//===- LegalizeForIREE.cpp - Programs for IREE's compiler -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalizations.h"
#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADLEGALIZEFORIREE
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Calls `drop` with the name of each attribute of `attributes` that belongs to
/// the dialect.
static void forEachFadAttribute(ArrayRef<NamedAttribute> attributes,
                                llvm::function_ref<void(StringAttr)> drop) {
  for (NamedAttribute attribute : attributes)
    if (isa_and_nonnull<FadDialect>(attribute.getNameDialect()))
      drop(attribute.getName());
}

/// Removes the attributes of the dialect from `op` and, for a function, from
/// its arguments and results.
static void dropFadAttributes(Operation *op) {
  forEachFadAttribute(
      llvm::to_vector(op->getDiscardableAttrs()),
      [&](StringAttr name) { op->removeDiscardableAttr(name); });
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    forEachFadAttribute(
        llvm::to_vector(function.getArgAttrs(i)),
        [&](StringAttr name) { function.removeArgAttr(i, name); });
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    forEachFadAttribute(
        llvm::to_vector(function.getResultAttrs(i)),
        [&](StringAttr name) { function.removeResultAttr(i, name); });
}

namespace {
/// Rewrites maxima and minima over windows to linalg.generic, unless their init
/// is one number: IREE computes named operations on zeros, and then adds the
/// init.
struct GeneralizeWindow : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<linalg::ConvolutionOpInterface>(op.getOperation()))
      return rewriter.notifyMatchFailure(op, "has no windows");
    Operation *combiner =
        op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner) ||
        op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
      return rewriter.notifyMatchFailure(op, "is computed as it is");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Merges insertions of a tensor into zeros, and of these into other zeros, to
/// one insertion: IREE 3.13 loses elements of the former.
struct MergeInsertions : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getSource().getDefiningOp<tensor::InsertSliceOp>();
    if (!first || first.hasUnitStride() || !op.hasUnitStride() ||
        dropsDims(op) || dropsDims(first))
      return rewriter.notifyMatchFailure(op, "puts no spread tensor in place");
    auto inner = first.getDest().getDefiningOp<linalg::FillOp>();
    auto outer = op.getDest().getDefiningOp<linalg::FillOp>();
    if (!inner || !outer || inner.value() != outer.value())
      return rewriter.notifyMatchFailure(op, "is not among the same numbers");
    SmallVector<OpFoldResult> offsets;
    for (auto [a, b] :
         llvm::zip_equal(op.getMixedOffsets(), first.getMixedOffsets())) {
      std::optional<int64_t> x = getConstantIntValue(a);
      std::optional<int64_t> y = getConstantIntValue(b);
      if (!x || !y)
        return rewriter.notifyMatchFailure(op, "begins at a computed place");
      offsets.push_back(rewriter.getIndexAttr(*x + *y));
    }
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, first.getSource(), op.getDest(), offsets, first.getMixedSizes(),
        first.getMixedStrides());
    return success();
  }

  static bool dropsDims(tensor::InsertSliceOp op) {
    return op.getSourceType().getRank() != op.getDestType().getRank();
  }
};

struct LegalizeForIREEPass
    : fad::impl::FadLegalizeForIREEBase<LegalizeForIREEPass> {
  void runOnOperation() override {
    if (failed(generalize()) || failed(expandErfc()) ||
        failed(copyWrittenArguments(getOperation())))
      return signalPassFailure();
    getOperation()->walk(dropFadAttributes);
  }

  /// Generalizes elementwise operations on tensors, `math.erfc` and the like,
  /// and named elementwise operations of linalg, which later versions of MLIR
  /// no longer have.
  LogicalResult generalize() {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    populateGeneralizeElementwisePatterns(patterns);
    patterns.add<GeneralizeWindow>(&getContext());
    patterns.add<MergeInsertions>(&getContext());
    populateSplitSumPatterns(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  /// Replaces `math.erfc`, which IREE has no code for.
  LogicalResult expandErfc() {
    // Upstream's approximation is of f32, which narrower types are computed in.
    WalkResult wide = getOperation()->walk([](math::ErfcOp op) {
      if (!getElementTypeOrSelf(op.getType()).isF64())
        return WalkResult::advance();
      op.emitOpError("on f64 has no counterpart in IREE; compute it in f32");
      return WalkResult::interrupt();
    });
    if (wide.wasInterrupted())
      return failure();
    auto isErfc = [](StringRef name) {
      return name == math::ErfcOp::getOperationName();
    };
    RewritePatternSet patterns(&getContext());
    populateMathF32ExpansionPatterns(patterns, isErfc);
    populatePolynomialApproximateErfcPattern(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
