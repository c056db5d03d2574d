//===- FadToLinalg.cpp - From fad to linalg on tensors --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "Lowerings.h"
#include "fad/Codegen/Passes.h"
#include "fad/Codegen/RuntimeVerification.h"
#include "fad/IR/Detach.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADTOLINALG
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Replaces fad.elementwise by a linalg.generic that takes over its body.
/// Scalars are used from outside of the loop; tensors that the body ignores
/// are not read.
struct ElementwiseToGeneric : OpRewritePattern<ElementwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> inputs, outputs;
    for (auto [input, argument] :
         llvm::zip(op.getInputs(), op.getBodyBlock()->getArguments()))
      if (isa<RankedTensorType>(input.getType()) && !argument.use_empty())
        inputs.push_back(input);
    Value shape = op.getShapeOperand();
    for (Type type : op.getResultTypes())
      outputs.push_back(
          createEmptyLike(rewriter, loc, cast<RankedTensorType>(type), shape));

    int64_t rank = cast<RankedTensorType>(shape.getType()).getRank();
    SmallVector<AffineMap> maps(inputs.size() + outputs.size(),
                                rewriter.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(rewriter, loc, op.getResultTypes(),
                                             inputs, outputs, maps, iterators);
    moveBody(rewriter, op, generic);
    generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, generic);
    return success();
  }

  /// Moves the body of `op` into `generic`.
  static void moveBody(PatternRewriter &rewriter, ElementwiseOp op,
                       linalg::GenericOp generic) {
    Block *body = rewriter.createBlock(&generic.getRegion());
    for (Value operand : generic->getOperands())
      body->addArgument(getElementTypeOrSelf(operand), operand.getLoc());

    SmallVector<Value> replacements;
    unsigned next = 0;
    for (auto [input, argument] :
         llvm::zip(op.getInputs(), op.getBodyBlock()->getArguments())) {
      if (!isa<RankedTensorType>(input.getType()))
        replacements.push_back(input);
      else if (argument.use_empty())
        // Any value of the type suffices, because the argument has no uses.
        replacements.push_back(argument);
      else
        replacements.push_back(body->getArgument(next++));
    }
    YieldOp yield = op.getYield();
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<linalg::YieldOp>(yield, yield.getOperands());
    rewriter.mergeBlocks(op.getBodyBlock(), body, replacements);
  }
};

/// Replaces an identity by its first operand: residuals, detached values, and
/// alternatives.
template <typename OpTy> struct TakeFirstOperand : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

struct FadToLinalgPass : fad::impl::FadToLinalgBase<FadToLinalgPass> {
  using FadToLinalgBase::FadToLinalgBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FadToLinalgBase::getDependentDialects(registry);
    // Passes behind this one verify the sizes of operations; those that this
    // pass lowers are verified before it, by fad-runner and the Python package
    // alone.
    registerRuntimeVerification(registry);
  }

  void runOnOperation() override {
    WalkResult residuals = getOperation()->walk(
        [](ResidualOp op) { return WalkResult(op.verifyHasLowering()); });
    if (residuals.wasInterrupted())
      return signalPassFailure();
    // The walks below skip blocks that cannot be reached.
    IRRewriter rewriter(&getContext());
    (void)eraseUnreachableBlocks(rewriter, getOperation()->getRegions());

    // Bodies come first, because the walk does not visit new operations.
    RewritePatternSet primitives(&getContext());
    populateExpandPrimitivesPatterns(primitives);
    walkAndApplyPatterns(getOperation(), std::move(primitives));
    RewritePatternSet patterns(&getContext());
    patterns.add<ElementwiseToGeneric, TakeFirstOperand<ResidualOp>,
                 TakeFirstOperand<DetachOp>, TakeFirstOperand<AlternativesOp>>(
        &getContext());
    populateScatterAddPatterns(patterns, scatterAsReductions);
    populatePackPatterns(patterns);
    populateGatherPatterns(patterns);
    populateScatterPatterns(patterns);
    populateSwitchPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    getOperation()->walk(dropAttributes);
  }

  /// Removes the attributes of the dialect.
  static void dropAttributes(Operation *op) {
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (isa_and_nonnull<FadDialect>(attr.getNameDialect()))
        op->removeDiscardableAttr(attr.getName());
  }
};
} // namespace
