//===- ExpandPrimitives.cpp - Activation primitives in arith and math -----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConversionUtils.h"
#include "fad/Conversion/Passes.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include <cmath>

namespace mlir::fad {
#define GEN_PASS_DEF_FADEXPANDPRIMITIVES
#include "fad/Conversion/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// One formula per primitive
//===----------------------------------------------------------------------===//
//
// exp(-|x|) neither overflows nor loses the smaller side, and it is what the
// derivatives in lib/Rules/FadRules.cpp are made of too, so that CSE leaves one
// exponential for a value and its derivative. Operands that emit operations
// have names: C++ leaves the order of evaluation open.

/// 1 / (1 + exp(-x)).
static Expr sigmoid(const Expr &x) {
  Expr e = exp(-abs(x));
  Expr numerator = select(x < 0, e, 1);
  return numerator / (1 + e);
}

static Expr evaluate(SigmoidOp, const Expr &x) { return sigmoid(x); }

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

static Expr evaluate(SiluOp, const Expr &x) { return x * sigmoid(x); }

static Expr evaluate(GeluOp op, const Expr &x) {
  if (op.getApproximate() == GeluApproximation::none)
    return x * (0.5 * erfc(x * -M_SQRT1_2));
  double k = 2 * std::sqrt(M_2_PI);
  return x * sigmoid(x * (k + k * 0.044715 * square(x)));
}

/// tanh(log(1 + e^x)) = n / (n + 2) with n = e^2x + 2e^x, both sides scaled by
/// e^-2x where x is positive.
static Expr evaluate(MishOp, const Expr &x) {
  Expr e = exp(-abs(x));
  Expr negative = x < 0;
  Expr small = e * (e + 2);
  Expr large = 1 + 2 * e;
  Expr n = select(negative, small, large);
  Expr two = select(negative, 2, 2 * square(e));
  return x * (n / (n + two));
}

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
/// Replaces a primitive by its formula, in a loop where it is on tensors.
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
