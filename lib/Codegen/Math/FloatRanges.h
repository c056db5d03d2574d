//===- FloatRanges.h - Bounds of the floats of a body -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_MATH_FLOATRANGES_H
#define FAD_LIB_CODEGEN_MATH_FLOATRANGES_H

#include "mlir/IR/Value.h"
#include <limits>

namespace mlir::fad {

/// Where a float lies unless it is NaN, both bounds included.
struct FloatRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool isNonNegative() const { return low >= 0; }
  bool isNonPositive() const { return high <= 0; }
};

/// The ranges of all floats, and vectors of them, that operations below one
/// compute. They follow from constants and from the range of each operation
/// alone: that two operands depend on each other counts only where both are
/// selected by one condition. Rounding is allowed for. Takes time linear in the
/// number of operations.
class FloatRanges {
public:
  explicit FloatRanges(Operation *root);

  /// The range of `value`; any number where nothing is known.
  FloatRange get(Value value) const;

  /// Whether `value`, which is computed from `known`, is zero, of any sign,
  /// where `known` is a number in `range`. A formula of more operations than
  /// any rule has counts as not zero, so that the time does not depend on what
  /// `value` is computed from besides.
  bool isZeroWhere(Value value, Value known, FloatRange range) const;

private:
  /// The ranges that follow where `known` is a number in `range`, which
  /// `base` does not know.
  FloatRanges(const FloatRanges &base, Value known, FloatRange range)
      : ranges({{known, range}}), base(&base), known(known) {}

  FloatRange infer(Operation *op) const;
  FloatRange inferSelect(Value condition, Value ifTrue, Value ifFalse) const;
  FloatRange inferSum(Value lhs, Value rhs) const;

  llvm::DenseMap<Value, FloatRange> ranges;
  /// The ranges of values that `ranges` does not have; null where there are no
  /// others.
  const FloatRanges *base = nullptr;
  /// A value that is known to be no NaN; null where there is none.
  Value known;
};

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_MATH_FLOATRANGES_H
