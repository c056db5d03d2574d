//===- FloatRanges.h - Bounds of the floats of a body -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_MATH_FLOATRANGES_H
#define FAD_CODEGEN_MATH_FLOATRANGES_H

#include "mlir/IR/Value.h"
#include <limits>

namespace mlir::fad {

/// An interval that contains a float unless it is NaN, both bounds included.
struct FloatRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool isNonNegative() const { return low >= 0; }
  bool isNonPositive() const { return high <= 0; }
};

/// The ranges of all floats, and vectors of them, that operations below one
/// compute. They follow from constants and from the range of each operation
/// alone; a correlation of two operands counts only if one condition selects
/// both. Ranges include rounding errors. Takes time linear in the number of
/// operations.
class FloatRanges {
public:
  explicit FloatRanges(Operation *root);

  /// The range of `value`; all numbers if nothing is known.
  FloatRange get(Value value) const;

  /// Whether `value`, which is computed from `known`, is zero, of any sign, if
  /// `known` is a number in `range`. Formulas of more operations than any rule
  /// has count as not zero, which bounds the time of the query.
  bool isZeroWhere(Value value, Value known, FloatRange range) const;

private:
  /// The ranges that follow if `known` is a number in `range`, in addition to
  /// `base`.
  FloatRanges(const FloatRanges &base, Value known, FloatRange range)
      : ranges({{known, range}}), base(&base), known(known) {}

  FloatRange infer(Operation *op) const;
  FloatRange inferSelect(Value condition, Value ifTrue, Value ifFalse) const;
  FloatRange inferSum(Value lhs, Value rhs) const;

  llvm::DenseMap<Value, FloatRange> ranges;
  /// The fallback for values that `ranges` lacks, or null.
  const FloatRanges *base = nullptr;
  /// A value that is known to be no NaN, or null.
  Value known;
};

} // namespace mlir::fad

#endif // FAD_CODEGEN_MATH_FLOATRANGES_H
