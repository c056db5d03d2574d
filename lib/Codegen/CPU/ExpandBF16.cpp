//===- ExpandBF16.cpp - Conversions of bf16 by integers -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A bf16 is the upper half of an f32. Pairs of neighbors in memory are taken
// as one integer: in the lower half the first, as on every processor that
// counts bytes from the least.
//
//===----------------------------------------------------------------------===//

#include "ExpandBF16.h"
#include "fad/Codegen/Math/Bits.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::fad;

/// The upper half of an f32.
static constexpr int32_t kUpperHalf = static_cast<int32_t>(0xffff0000);
static constexpr auto kTiesToEven = arith::RoundingMode::to_nearest_even;

/// Whether `value` is a constant other than NaN.
static bool isNumber(Value value) {
  llvm::APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) && !number.isNaN();
}

/// Whether `value`, if it is NaN, has the first bit of its fraction set, as all
/// results of arithmetic have. Looks through `depth` selections.
static bool isQuiet(Value value, unsigned depth = 3) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return depth != 0 && isQuiet(select.getTrueValue(), depth - 1) &&
           isQuiet(select.getFalseValue(), depth - 1);
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                         arith::DivFOp, math::FmaOp>(op) ||
         isNumber(value);
}

static bool roundsTiesAway(arith::TruncFOp rounding) {
  return rounding.getRoundingmode() == arith::RoundingMode::to_nearest_away;
}

/// `bits` of an f32 plus half a unit of the bf16 in its upper half.
static Value addHalf(ImplicitLocOpBuilder &b, Value bits, bool tiesAway) {
  if (tiesAway)
    return combine<arith::AddIOp>(b, bits, 0x8000);
  Value upper = combine<arith::ShRUIOp>(b, bits, 16);
  Value odd = combine<arith::AndIOp>(b, upper, 1);
  Value bias = combine<arith::AddIOp>(b, odd, 0x7fff);
  return arith::AddIOp::create(b, bits, bias);
}

/// The operand of `rounding`, rounded to bf16 in the upper half of the result;
/// the lower half is undefined.
static Value roundInUpperHalf(ImplicitLocOpBuilder &b,
                              arith::TruncFOp rounding) {
  Value wide = rounding.getIn();
  Value bits = toBits(b, wide);
  Value sum = addHalf(b, bits, roundsTiesAway(rounding));
  // NaN must not become something else.
  Value ordered =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, wide, wide);
  Value other =
      isQuiet(wide) ? bits : constantBits(b, bits.getType(), 0x7fc00000);
  return arith::SelectOp::create(b, ordered, sum, other);
}

static bool converts(Type narrow, Type wide) {
  return getElementTypeOrSelf(narrow).isBF16() &&
         getElementTypeOrSelf(wide).isF32() && !isa<TensorType>(narrow);
}

/// `value` as a truncation from f32 to bf16 that rounds to nearest, or null.
static arith::TruncFOp getRounding(Value value) {
  auto round = value.getDefiningOp<arith::TruncFOp>();
  if (!round || !converts(round.getType(), round.getIn().getType()))
    return nullptr;
  bool tiesToEven =
      round.getRoundingmode().value_or(kTiesToEven) == kTiesToEven;
  return tiesToEven || roundsTiesAway(round) ? round : nullptr;
}

namespace {
struct ExtendBF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!converts(op.getIn().getType(), op.getType()))
      return rewriter.notifyMatchFailure(op, "not from bf16 to f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, fromBits(b, extend(b, op.getIn())));
    return success();
  }

  /// The bits of `narrow` as an f32.
  static Value extend(ImplicitLocOpBuilder &b, Value narrow) {
    if (arith::TruncFOp rounding = getRounding(narrow))
      return combine<arith::AndIOp>(b, roundInUpperHalf(b, rounding),
                                    kUpperHalf);
    Type type = withElement(narrow.getType(), b.getI32Type());
    if (auto pairs = narrow.getDefiningOp<vector::DeinterleaveOp>()) {
      Value both = vector::BitCastOp::create(b, cast<VectorType>(type),
                                             pairs.getSource());
      if (narrow == pairs.getRes1())
        return combine<arith::ShLIOp>(b, both, 16);
      return combine<arith::AndIOp>(b, both, kUpperHalf);
    }
    Type half = withElement(type, b.getI16Type());
    Value bits = arith::BitcastOp::create(b, half, narrow);
    return combine<arith::ShLIOp>(b, arith::ExtUIOp::create(b, type, bits), 16);
  }
};

struct RoundToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getRounding(op.getResult()))
      return rewriter.notifyMatchFailure(op,
                                         "not from f32 to the nearest bf16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value rounded = roundInUpperHalf(b, op);
    Value upper = combine<arith::ShRUIOp>(b, rounded, 16);
    Type half = withElement(op.getType(), b.getI16Type());
    Value narrow = arith::TruncIOp::create(b, half, upper);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};

struct RoundPairsToBF16 : OpRewritePattern<vector::InterleaveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::InterleaveOp op,
                                PatternRewriter &rewriter) const override {
    arith::TruncFOp first = getRounding(op.getLhs());
    arith::TruncFOp second = getRounding(op.getRhs());
    if (!first || !second)
      return rewriter.notifyMatchFailure(op, "not of two roundings to bf16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value low = combine<arith::ShRUIOp>(b, roundInUpperHalf(b, first), 16);
    Value high =
        combine<arith::AndIOp>(b, roundInUpperHalf(b, second), kUpperHalf);
    Value both = arith::OrIOp::create(b, low, high);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, op.getType(), both);
    return success();
  }
};
} // namespace

LogicalResult fad::expandBF16(Operation *root) {
  // Conversions that are rewritten in pairs are not rewritten alone.
  RewritePatternSet joint(root->getContext()), alone(root->getContext());
  joint.add<ExtendBF16, RoundPairsToBF16>(root->getContext());
  alone.add<RoundToBF16>(root->getContext());
  // Simplifying the blocks of many loops would take longer than the rest.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return success(
      succeeded(applyPatternsGreedily(root, std::move(joint), config)) &&
      succeeded(applyPatternsGreedily(root, std::move(alone), config)));
}
