//===- FloatRanges.cpp - Bounds of the floats of a body -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Math/FloatRanges.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

/// More than operations and functions of f32 err by, relative to the result.
static constexpr double kSlack = 0x1p-20;
/// Below, numbers of f32 and bf16 have fewer digits, or become zero.
static constexpr double kMinNormal = 0x1p-126;

/// From the least to the greatest of `numbers`, extended by rounding errors,
/// which change no sign. The full range if one is NaN.
static FloatRange makeRange(ArrayRef<double> numbers) {
  if (llvm::any_of(numbers, [](double number) { return std::isnan(number); }))
    return {};
  double low = *llvm::min_element(numbers);
  double high = *llvm::max_element(numbers);
  if (std::isfinite(low))
    low -= kSlack * std::abs(low);
  if (std::isfinite(high))
    high += kSlack * std::abs(high);
  if (std::abs(low) < kMinNormal)
    low = low < 0 ? -kMinNormal : 0;
  if (std::abs(high) < kMinNormal)
    high = high > 0 ? kMinNormal : 0;
  return {low, high};
}

static FloatRange unite(FloatRange lhs, FloatRange rhs) {
  return {std::min(lhs.low, rhs.low), std::max(lhs.high, rhs.high)};
}

static FloatRange negate(FloatRange x) { return {0 - x.high, 0 - x.low}; }

static FloatRange getSize(FloatRange x) {
  double least = x.low > 0 ? x.low : x.high < 0 ? -x.high : 0;
  return {least, std::max(-x.low, x.high)};
}

static FloatRange add(FloatRange lhs, FloatRange rhs) {
  return makeRange({lhs.low + rhs.low, lhs.high + rhs.high});
}

/// The product of two bounds. Zero times infinity is NaN, which no range holds.
static double multiplyBounds(double lhs, double rhs) {
  return lhs == 0 || rhs == 0 ? 0 : lhs * rhs;
}

static FloatRange multiply(FloatRange lhs, FloatRange rhs) {
  return makeRange(
      {multiplyBounds(lhs.low, rhs.low), multiplyBounds(lhs.low, rhs.high),
       multiplyBounds(lhs.high, rhs.low), multiplyBounds(lhs.high, rhs.high)});
}

static FloatRange inferSquare(FloatRange x) {
  FloatRange size = getSize(x);
  return multiply(size, size);
}

/// The full range if the divisor may be zero or infinite.
static FloatRange divide(FloatRange lhs, FloatRange rhs) {
  FloatRange size = getSize(rhs);
  if (size.low == 0 || std::isinf(size.high))
    return {};
  return makeRange({lhs.low / rhs.low, lhs.low / rhs.high, lhs.high / rhs.low,
                    lhs.high / rhs.high});
}

/// The range of a monotonically increasing function of `x`.
template <typename Fn> static FloatRange map(FloatRange x, Fn function) {
  return makeRange({function(x.low), function(x.high)});
}

static FloatRange getConstantRange(Value value) {
  llvm::APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)) || number.isNaN())
    return {};
  bool losesInfo = false;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  double constant = number.convertToDouble();
  return {constant, constant};
}

/// `range` rounded to `type`; numbers that are too large become infinite.
static FloatRange roundTo(FloatRange range, Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
  double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto bound = [&](double number) {
    return std::abs(number) <= largest ? number
                                       : std::copysign(kInfinity, number);
  };
  return {bound(range.low), bound(range.high)};
}

FloatRanges::FloatRanges(Operation *root) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() == 1 &&
        isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
      ranges[op->getResult(0)] = roundTo(infer(op), op->getResult(0).getType());
  });
}

FloatRange FloatRanges::get(Value value) const {
  if (auto found = ranges.find(value); found != ranges.end())
    return found->second;
  // Constants may be outside the root.
  return base ? base->get(value) : getConstantRange(value);
}

/// A selection may be a spelled-out minimum or maximum with a constant.
FloatRange FloatRanges::inferSelect(Value condition, Value ifTrue,
                                    Value ifFalse) const {
  FloatRange first = get(ifTrue), second = get(ifFalse);
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  // `known` is not NaN, which would take the other branch.
  if (compare && known && compare.getLhs() == known &&
      compare.getPredicate() == arith::CmpFPredicate::OLT &&
      get(known).high < get(compare.getRhs()).low)
    return first;
  if (!compare || compare.getLhs() != ifFalse || compare.getRhs() != ifTrue ||
      !matchPattern(ifTrue, m_Constant()))
    return unite(first, second);
  if (compare.getPredicate() == arith::CmpFPredicate::OGT)
    return {std::min(first.low, second.low), std::min(first.high, second.high)};
  if (compare.getPredicate() == arith::CmpFPredicate::OLT)
    return {std::max(first.low, second.low), std::max(first.high, second.high)};
  return unite(first, second);
}

FloatRange FloatRanges::inferSum(Value lhs, Value rhs) const {
  auto first = lhs.getDefiningOp<arith::SelectOp>();
  auto second = rhs.getDefiningOp<arith::SelectOp>();
  if (!first || !second || first.getCondition() != second.getCondition())
    return add(get(lhs), get(rhs));
  return unite(add(get(first.getTrueValue()), get(second.getTrueValue())),
               add(get(first.getFalseValue()), get(second.getFalseValue())));
}

FloatRange FloatRanges::infer(Operation *op) const {
  auto at = [&](unsigned index) { return get(op->getOperand(index)); };
  auto isSquare = [&] { return op->getOperand(0) == op->getOperand(1); };
  // Less than half of the least number of f32 rounds to zero.
  auto underflow = [&](double number) {
    bool isF64 = getElementTypeOrSelf(op->getResult(0)).isF64();
    return number < 0x1p-150 && !isF64 ? 0 : number;
  };
  return llvm::TypeSwitch<Operation *, FloatRange>(op)
      .Case<arith::ConstantOp>(
          [&](auto) { return getConstantRange(op->getResult(0)); })
      .Case<arith::ExtFOp>([&](auto) { return at(0); })
      .Case<math::AbsFOp>([&](auto) { return getSize(at(0)); })
      .Case<arith::NegFOp>([&](auto) { return negate(at(0)); })
      .Case([&](arith::SelectOp select) {
        return inferSelect(select.getCondition(), select.getTrueValue(),
                           select.getFalseValue());
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
        // minnumf and maxnumf return the other operand if one is NaN.
        bool isNumber = isa<arith::MinNumFOp>(op);
        double low = std::min(at(0).low, at(1).low);
        double high = isNumber ? std::max(at(0).high, at(1).high)
                               : std::min(at(0).high, at(1).high);
        return FloatRange{low, high};
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
        bool isNumber = isa<arith::MaxNumFOp>(op);
        double low = isNumber ? std::min(at(0).low, at(1).low)
                              : std::max(at(0).low, at(1).low);
        double high = std::max(at(0).high, at(1).high);
        return FloatRange{low, high};
      })
      .Case([&](arith::AddFOp sum) {
        return inferSum(sum.getLhs(), sum.getRhs());
      })
      .Case<arith::SubFOp>([&](auto) { return add(at(0), negate(at(1))); })
      .Case<arith::MulFOp>([&](auto) {
        return isSquare() ? inferSquare(at(0)) : multiply(at(0), at(1));
      })
      .Case<arith::DivFOp>([&](auto) { return divide(at(0), at(1)); })
      .Case<math::FmaOp>([&](auto) {
        FloatRange product =
            isSquare() ? inferSquare(at(0)) : multiply(at(0), at(1));
        return add(product, at(2));
      })
      .Case<math::ExpOp>([&](auto) {
        return map(at(0), [&](double x) { return underflow(std::exp(x)); });
      })
      .Case<math::TanhOp>([&](auto) {
        return map(at(0), [](double x) { return std::tanh(x); });
      })
      .Case<math::ErfOp>([&](auto) {
        return map(at(0), [](double x) { return std::erf(x); });
      })
      .Case<math::ErfcOp>([&](auto) {
        return negate(
            map(at(0), [&](double x) { return -underflow(std::erfc(x)); }));
      })
      .Default([](Operation *) { return FloatRange(); });
}

/// Whether `op` gives a number for numbers, infinite ones among them.
static bool takesInfinity(Operation *op) {
  return isa<arith::SelectOp, arith::CmpFOp, arith::MinimumFOp,
             arith::MaximumFOp, arith::MinNumFOp, arith::MaxNumFOp,
             arith::NegFOp, math::AbsFOp, math::CopySignOp, math::ExpOp,
             math::ErfOp, math::ErfcOp, math::TanhOp>(op);
}

/// The same for numbers in ranges that are bounded.
static bool takesNumbers(Operation *op) {
  return takesInfinity(op) || isa<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                                  arith::DivFOp, math::FmaOp>(op);
}

bool FloatRanges::isZeroWhere(Value value, Value known,
                              FloatRange range) const {
  // Several times the length of the longest formula of a rule.
  constexpr unsigned kMaxOperations = 100;
  SetVector<Operation *> slice;
  unsigned numVisited = 0;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) {
    return numVisited <= kMaxOperations &&
           !llvm::is_contained(op->getResults(), known) &&
           !op->hasTrait<OpTrait::ConstantLike>() &&
           ++numVisited <= kMaxOperations;
  };
  options.inclusive = true;
  options.omitBlockArguments = true;
  if (failed(getBackwardSlice(value, &slice, options)) ||
      numVisited > kMaxOperations)
    return false;
  FloatRanges assumed(*this, known, range);
  for (Operation *op : slice) {
    if (op->getNumResults() != 1 || !takesNumbers(op))
      return false;
    for (Value operand : op->getOperands()) {
      FloatRange bounds = assumed.get(operand);
      if (!takesInfinity(op) &&
          !(std::isfinite(bounds.low) && std::isfinite(bounds.high)))
        return false;
    }
    Value result = op->getResult(0);
    FloatRange found = assumed.infer(op);
    assumed.ranges[result] = isa<FloatType>(result.getType())
                                 ? roundTo(found, result.getType())
                                 : found;
  }
  FloatRange found = assumed.get(value);
  return found.low == 0 && found.high == 0;
}
