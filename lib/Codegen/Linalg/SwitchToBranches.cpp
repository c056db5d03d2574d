//===- SwitchToBranches.cpp - scf.index_switch on tensors to scf.if -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Replaces a switch that returns tensors by nested conditionals. One-shot
/// bufferization does not see that two of its results may alias, and lets one
/// be overwritten while the other is still read.
struct SwitchToBranches : OpRewritePattern<scf::IndexSwitchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IndexSwitchOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      return rewriter.notifyMatchFailure(op, "returns no tensor");
    Location loc = op.getLoc();
    scf::IfOp outer;
    for (auto [number, branch] :
         llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
      Value value = arith::ConstantIndexOp::create(rewriter, loc, number);
      Value isCase = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, op.getArg(), value);
      auto conditional =
          scf::IfOp::create(rewriter, loc, op.getResultTypes(), isCase);
      rewriter.inlineRegionBefore(branch, conditional.getThenRegion(),
                                  conditional.getThenRegion().end());
      if (outer)
        scf::YieldOp::create(rewriter, loc, conditional.getResults());
      else
        rewriter.replaceAllUsesWith(op.getResults(), conditional.getResults());
      outer = conditional;
      rewriter.createBlock(&conditional.getElseRegion());
    }
    Block &last = op.getDefaultBlock();
    if (outer) {
      rewriter.eraseBlock(&outer.getElseRegion().front());
      rewriter.inlineRegionBefore(op.getDefaultRegion(), outer.getElseRegion(),
                                  outer.getElseRegion().end());
      rewriter.eraseOp(op);
      return success();
    }
    SmallVector<Value> yielded(last.getTerminator()->getOperands());
    rewriter.eraseOp(last.getTerminator());
    rewriter.inlineBlockBefore(&last, op);
    rewriter.replaceOp(op, yielded);
    return success();
  }
};
} // namespace

void fad::populateSwitchPatterns(RewritePatternSet &patterns) {
  patterns.add<SwitchToBranches>(patterns.getContext());
}
