//===- ExtractCoefficients.cpp - Backward as cotangent times coefficient --===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/Linearity.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADEXTRACTCOEFFICIENTS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Names each operation of the backward part as an adjoint. The primal
/// operation is unknown.
static void nameBackward(const JointFunction &joint) {
  Builder builder(joint.getFunction().getContext());
  for (Operation *op : joint.getBackward()) {
    if (op->hasAttr(FadDialect::kAdjointOfAttr))
      continue;
    auto region = dyn_cast<ElementwiseOp>(op);
    StringRef name = region ? describe(region) : op->getName().getStringRef();
    op->setAttr(FadDialect::kAdjointOfAttr, builder.getStringAttr(name));
  }
}

namespace {
struct FadExtractCoefficientsPass
    : fad::impl::FadExtractCoefficientsBase<FadExtractCoefficientsPass> {
  using FadExtractCoefficientsBase::FadExtractCoefficientsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!JointFunction::isJoint(function)) {
      markAllAnalysesPreserved();
      return;
    }
    // Elementwise operations on tensors become generics with a scalar body.
    RewritePatternSet patterns(&getContext());
    populateGeneralizeElementwisePatterns(patterns);
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    walkAndApplyPatterns(function, std::move(patterns));
    if (function.getBody().hasOneBlock())
      eraseDeadOps(function.front());

    FailureOr<JointFunction> joint = JointFunction::get(function);
    if (failed(joint))
      return signalPassFailure();
    Linearity linearity(*joint);
    if (!linearity.isValid() || failed(linearity.verifyGradients(*joint)))
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    // In reverse order, the analysis of earlier values stays valid.
    SmallVector<LinearRegion> regions =
        findLinearRegions(*joint, linearity, reassociate);
    for (const LinearRegion &region : llvm::reverse(regions))
      factorRegion(rewriter, region, linearity);
    separateDerivatives(rewriter, JointFunction::getVerified(function));
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    nameBackward(JointFunction::getVerified(function));
  }
};
} // namespace
