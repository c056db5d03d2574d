//===- DemandedPrecision.cpp - Precision that uses demand -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Math/DemandedPrecision.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

/// 2^-14 halved so often is 2^-18.
static constexpr unsigned kMaxHalvings = 4;
/// More, for values that must keep the digits of f32.
static constexpr unsigned kKeepsPrecision = kMaxHalvings + 1;

static bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// Whether `value` has no error: a constant, an input, or a value of 16 bits.
static bool isExact(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || op->hasTrait<OpTrait::ConstantLike>() ||
         isa<arith::ExtFOp>(op) ||
         !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect());
}

static bool haveOneSign(FloatRange lhs, FloatRange rhs) {
  return (lhs.isNonNegative() && rhs.isNonNegative()) ||
         (lhs.isNonPositive() && rhs.isNonPositive());
}

/// Whether `op`, a sum of a kind, adds numbers of one sign.
static bool addsOneSign(Operation *op, const FloatRanges &ranges) {
  FloatRange first = ranges.get(op->getOperand(0));
  FloatRange second = ranges.get(op->getOperand(1));
  if (isa<arith::AddFOp>(op))
    return haveOneSign(first, second);
  if (isa<arith::SubFOp>(op))
    return haveOneSign(first, {-second.high, -second.low});
  // fma
  FloatRange third = ranges.get(op->getOperand(2));
  bool isSquare = op->getOperand(0) == op->getOperand(1);
  return (third.isNonNegative() && (isSquare || haveOneSign(first, second))) ||
         (third.isNonPositive() && !isSquare &&
          haveOneSign(first, {-second.high, -second.low}));
}

/// The number of times that the share of `operand` in the error is halved, if
/// that of its owner's result is halved `depth` times.
static unsigned getDepth(OpOperand &operand, unsigned depth,
                         const FloatRanges &ranges) {
  Operation *op = operand.getOwner();
  if (depth >= kKeepsPrecision)
    return kKeepsPrecision;
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return addsOneSign(op, ranges) ? depth : kKeepsPrecision;
  // Quotients and roots may have an error of their own.
  if (isa<math::SqrtOp>(op))
    return depth + 1;
  if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    Value other = op->getOperand(1 - operand.getOperandNumber());
    return depth + isa<arith::DivFOp>(op) + !isExact(other);
  }
  if (isa<math::FmaOp>(op)) {
    if (!addsOneSign(op, ranges))
      return kKeepsPrecision;
    if (operand.getOperandNumber() == 2)
      return depth;
    Value other = op->getOperand(1 - operand.getOperandNumber());
    return depth + !isExact(other);
  }
  bool passes =
      isa<arith::SelectOp, arith::NegFOp, arith::MinimumFOp, arith::MaximumFOp,
          arith::MinNumFOp, arith::MaxNumFOp, math::AbsFOp, math::CopySignOp>(
          op);
  return passes ? depth : kKeepsPrecision;
}

/// The demand of `use`, or nothing if it does not end in 16 bits.
std::optional<DemandedPrecision::Use>
DemandedPrecision::inferUse(OpOperand &use, const FloatRanges &ranges) const {
  Operation *user = use.getOwner();
  if (isa<arith::TruncFOp>(user)) {
    Type type = getElementTypeOrSelf(user->getResult(0));
    bool isNarrow = type.isF16() || type.isBF16();
    return isNarrow ? std::optional(Use{0, type.isBF16()}) : std::nullopt;
  }
  // A comparison, which has no result of f32, may be decided by the last digit.
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          user->getDialect()) ||
      user->getNumResults() != 1)
    return std::nullopt;
  auto found = uses.find(user->getResult(0));
  if (found == uses.end())
    return std::nullopt;
  return Use{getDepth(use, found->second.depth, ranges), found->second.inBF16};
}

DemandedPrecision::DemandedPrecision(Operation *root,
                                     const FloatRanges &ranges) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    for (Value result : op->getResults()) {
      if (!isF32(result) || isa<TensorType>(result.getType()))
        continue;
      Use all;
      bool ends = !result.use_empty() &&
                  llvm::all_of(result.getUses(), [&](OpOperand &operand) {
                    std::optional<Use> use = inferUse(operand, ranges);
                    if (!use)
                      return false;
                    all.depth = std::max(all.depth, use->depth);
                    all.inBF16 &= use->inBF16;
                    return true;
                  });
      if (ends)
        uses[result] = all;
    }
}

bool DemandedPrecision::endsInBF16(Value value) const {
  auto found = uses.find(value);
  return found != uses.end() && found->second.inBF16;
}

bool DemandedPrecision::isNarrow(Value value) const {
  auto found = uses.find(value);
  return found != uses.end() && found->second.depth <= kMaxHalvings;
}

Precision DemandedPrecision::getPrecision(Value value) const {
  if (endsInBF16(value))
    return Precision::BF16;
  return endsNarrow(value) ? Precision::F16 : Precision::F32;
}
