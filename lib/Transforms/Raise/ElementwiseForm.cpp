//===- ElementwiseForm.cpp - One form for elementwise operations ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

namespace {

/// Rewrites linalg.exp, linalg.map, linalg.elementwise, ... to linalg.generic.
/// Operations that only move or fill keep their name: they compute no scalars.
struct GeneralizeElementwise
    : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp, linalg::CopyOp,
            linalg::TransposeOp, linalg::BroadcastOp>(op))
      return rewriter.notifyMatchFailure(op, "keeps its name");
    if (!isa<linalg::MapOp, linalg::ElementwiseOp>(op) &&
        !linalg::isElementwise(op))
      return rewriter.notifyMatchFailure(op, "is not elementwise");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// Folds a rounded constant; upstream folds only exact ones. Exporters state
/// the constants of a program in f64 and round them in bodies.
struct FoldTruncOfConstant : public OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "rounds in another mode");

    auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    auto round = [&](APFloat value) {
      bool losesInfo;
      value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      return value;
    };
    TypedAttr rounded;
    FloatAttr scalar;
    DenseFPElementsAttr dense;
    if (matchPattern(op.getIn(), m_Constant(&scalar)))
      rounded = FloatAttr::get(type, round(scalar.getValue()));
    else if (matchPattern(op.getIn(), m_Constant(&dense)))
      rounded = dense.mapValues(type, [&](const APFloat &value) {
        return round(value).bitcastToAPInt();
      });
    else
      return rewriter.notifyMatchFailure(op, "operand is not constant");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rounded);
    return success();
  }
};

} // namespace

void raise::populateFoldTruncPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldTruncOfConstant>(patterns.getContext());
}

void fad::populateGeneralizeElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<GeneralizeElementwise>(patterns.getContext());
}

void raise::populateRaiseLinalgPatterns(RewritePatternSet &patterns) {
  populateGeneralizeElementwisePatterns(patterns);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  // Among the fusion patterns, only those that normalize an operation: they
  // inline constants and fills, drop repeated and unused operands, and replace
  // inits that are not read by a tensor.empty. Fusion itself is left to
  // fad-partition.
  linalg::populateElementwiseOpsFusionPatterns(
      patterns, [](OpOperand *) { return false; });
}
