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
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include <cmath>

namespace mlir::fad {
#define GEN_PASS_DEF_FADEXPANDPRIMITIVES
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// One formula per primitive
//===----------------------------------------------------------------------===//
//
// They have their exponentials from fad/Interfaces/Formulas.h, as the
// derivatives in lib/Rules/FadRules.cpp do, so that CSE leaves one for a value
// and its derivative. Operands that emit operations have names: C++ leaves the
// order of evaluation open.

static Expr evaluate(SigmoidOp, const Expr &x) { return logistic(x); }

static Expr evaluate(SoftplusOp op, const Expr &x) {
  Expr positive = max(x, 0);
  Expr y = positive + log1p(exp(-abs(x)));
  if (!op.getThreshold())
    return y;
  return select(x > op.getThreshold()->convertToDouble(), x, y);
}

static Expr evaluate(ReluOp, const Expr &x) { return max(x, 0); }

static Expr evaluate(LeakyReluOp op, const Expr &x) {
  return select(x > 0, x, op.getSlope().convertToDouble() * x);
}

static Expr evaluate(EluOp op, const Expr &x) {
  return select(x > 0, x, op.getAlpha().convertToDouble() * expm1(x));
}

static Expr evaluate(SiluOp, const Expr &x) { return x * logistic(x); }

static Expr evaluate(GeluOp op, const Expr &x) {
  if (op.getApproximate() == GeluApproximation::none)
    return x * normal(x).Phi;
  double k = 2 * std::sqrt(M_2_PI);
  Expr top = min(x, std::sqrt(2 * (underflow(x) + 8)));
  return x * logistic(top * (k + k * 0.044715 * square(top)));
}

static Expr evaluate(MishOp, const Expr &x) { return x * mish(x).value; }

static Expr hardsigmoid(const Expr &x) { return min(max(x + 3, 0), 6) / 6; }

static Expr evaluate(HardSigmoidOp, const Expr &x) { return hardsigmoid(x); }

static Expr evaluate(HardSwishOp, const Expr &x) { return x * hardsigmoid(x); }

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// `type`, a scalar or vector, with the element type that its values are
/// computed in.
static Type getComputingType(Type type) {
  Type element = getTangentType(getElementTypeOrSelf(type));
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

/// The value of `op` at `operand`, a scalar or vector.
template <typename OpTy>
static Value expand(OpBuilder &builder, OpTy op, Value operand) {
  Type type = operand.getType();
  ExprBuilder eb(builder, op.getLoc(), getComputingType(type),
                 op.getFastmath());
  Expr x = convert(Expr(eb, operand), eb.type);
  return convert(evaluate(op, x), type).getValue();
}

namespace {
/// Replaces a primitive by its formula, in a loop if it is on tensors.
template <typename OpTy> struct ExpandPrimitive : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value input = op.getOperand();
    auto type = dyn_cast<RankedTensorType>(op.getType());
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

template <typename... OpTys>
static void addPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandPrimitive<OpTys>...>(patterns.getContext());
}

void fad::populateExpandPrimitivesPatterns(RewritePatternSet &patterns) {
  addPatterns<SigmoidOp, SoftplusOp, ReluOp, LeakyReluOp, EluOp, SiluOp, GeluOp,
              MishOp, HardSigmoidOp, HardSwishOp>(patterns);
}
