//===- DemandedPrecision.h - Precision that uses demand ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_MATH_DEMANDEDPRECISION_H
#define FAD_CODEGEN_MATH_DEMANDEDPRECISION_H

#include "fad/Codegen/Math/FloatRanges.h"

namespace mlir::fad {

/// The precision that the uses of a value demand.
enum class Precision { F32, F16, BF16 };

/// The errors that the f32 values below an operation, and vectors of f32, may
/// have because their uses round to bf16 or f16. Three queries, each of which
/// allows larger errors than the one before:
///
/// `endsNarrow`: every path of uses ends in a truncation to bf16 or f16,
/// through operations of arith and math on f32. The computation of such a value
/// may err by some units in the last place of f32, that of an exponential in
/// proportion to its argument. A cancellation of two such values leaves these
/// absolute errors.
///
/// `endsInBF16`: the same with bf16 alone. The error may be 2^-18 relative to
/// the value, 1/512 of the rounding error of its operands: a near cancellation
/// of two values is no more uncertain than before.
///
/// `isNarrow`: an error of 2^-18 relative to the value, of either sign, moves
/// no result by more than 2^-14 relative to the result before it is rounded,
/// even if all values with this answer have such errors: 1/128 of a unit in the
/// last place of bf16, 1/16 of one of f16. Only these operations pass an error
/// on:
///
/// - multiplication, which halves the share of its operands in the error,
///   unless one is a constant or comes from memory; division and sqrt, which
///   halve it once more, as they may have such an error of their own;
/// - the branches of a selection; negf, absf, copysign, minima, maxima;
/// - sums, differences and fma of numbers whose ranges have one sign.
///
/// Other sums may cancel, and exponents magnify their error. Compared, stored,
/// yielded, passed and cast values demand all digits. Takes time linear in the
/// number of operations.
class DemandedPrecision {
public:
  explicit DemandedPrecision(Operation *root)
      : DemandedPrecision(root, FloatRanges(root)) {}
  /// With known ranges.
  DemandedPrecision(Operation *root, const FloatRanges &ranges);

  bool endsNarrow(Value value) const { return uses.contains(value); }
  bool endsInBF16(Value value) const;
  bool isNarrow(Value value) const;
  /// The answers to the first two queries.
  Precision getPrecision(Value value) const;

private:
  struct Use {
    /// The number of times that the value's share in the error has been halved.
    unsigned depth = 0;
    bool inBF16 = true;
  };
  std::optional<Use> inferUse(OpOperand &use, const FloatRanges &ranges) const;

  llvm::DenseMap<Value, Use> uses;
};

} // namespace mlir::fad

#endif // FAD_CODEGEN_MATH_DEMANDEDPRECISION_H
