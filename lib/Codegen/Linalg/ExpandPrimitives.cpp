//===- ExpandPrimitives.cpp - Activation primitives in arith and math -----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADEXPANDPRIMITIVES
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// `type`, a scalar or vector, with the element type that its values are
/// computed in.
static Type getComputingType(Type type) {
  Type element = getTangentType(getElementTypeOrSelf(type));
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

/// The value of `op` at `operand`, a scalar or vector.
static Value expand(OpBuilder &builder, ActivationOpInterface op,
                    Value operand) {
  Type type = operand.getType();
  auto flags = cast<arith::ArithFastMathInterface>(op.getOperation());
  ExprBuilder eb(builder, op.getLoc(), getComputingType(type),
                 flags.getFastMathFlagsAttr().getValue());
  Expr x = convert(Expr(eb, operand), eb.type);
  return convert(op.getValueAt(x), type).getValue();
}

namespace {
/// Replaces a primitive by its formula, in a loop if it is on tensors.
struct ExpandPrimitive : OpInterfaceRewritePattern<ActivationOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ActivationOpInterface op,
                                PatternRewriter &rewriter) const override {
    Value input = op->getOperand(0);
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type) {
      rewriter.replaceOp(op, expand(rewriter, op, input));
      return success();
    }
    Value output = createEmptyLike(rewriter, op.getLoc(), type, input);
    SmallVector<AffineMap> maps(
        2, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, input, output, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange args) {
          linalg::YieldOp::create(builder, loc, expand(builder, op, args[0]));
        });
    return success();
  }
};

struct ExpandPrimitivesPass
    : fad::impl::FadExpandPrimitivesBase<ExpandPrimitivesPass> {
  void runOnOperation() override {
    // The walk below skips blocks that cannot be reached.
    IRRewriter rewriter(&getContext());
    (void)eraseUnreachableBlocks(rewriter, getOperation()->getRegions());
    RewritePatternSet patterns(&getContext());
    populateExpandPrimitivesPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

void fad::populateExpandPrimitivesPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandPrimitive>(patterns.getContext());
}
