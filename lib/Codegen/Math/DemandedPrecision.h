//===- DemandedPrecision.h - Numbers that end up in 16 bits -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_MATH_DEMANDEDPRECISION_H
#define FAD_LIB_CODEGEN_MATH_DEMANDEDPRECISION_H

#include "FloatRanges.h"

namespace mlir::fad {

/// The type that a number ends up in, as far as its digits count.
enum class Precision { F32, F16, BF16 };

/// How far the f32 values below an operation, and vectors of f32, may be off
/// because all that is computed of them is rounded to bf16 or f16. Three
/// questions, each of which allows larger errors than the one before:
///
/// `endsNarrow`: every path of uses ends in a truncation to bf16 or f16,
/// through operations of arith and math on f32. What computes such a value may
/// err by some units in the last place of f32, an exponential by as many as its
/// argument is large. Where two of them cancel, that much is left.
///
/// `endsInBF16`: the same with bf16 alone. It may err by 2^-18 relative to the
/// value, 1/512 of what rounding took from the numbers that it is computed
/// from: where two values nearly cancel, what is left is no more uncertain than
/// it was.
///
/// `isNarrow`: an error of 2^-18 relative to the value, of either sign, moves
/// no result by more than 2^-14 relative to the result before it is rounded,
/// even if all values for which the answer is yes have such errors: 1/128 of a
/// unit in the last place of bf16, 1/16 of one of f16. So these pass an error
/// on:
///
/// - multiplication, which halves what its operands may add to the error,
/// unless
///   one is a constant, or comes from memory; division and sqrt, which do it
///   once more, as they may have such an error of their own;
/// - the branches of a selection; negf, absf, copysign, minima, maxima;
/// - sums, differences and fma, of numbers the ranges of which have one sign.
///
/// Other sums may cancel, exponents magnify their error, and so nothing else
/// passes it on. What is compared, stored, yielded, called with, or cast to
/// another type before it is truncated counts with all its digits. Takes time
/// linear in the number of operations.
class DemandedPrecision {
public:
  explicit DemandedPrecision(Operation *root) : DemandedPrecision(root, FloatRanges(root)) {}
  /// With ranges that are known already.
  DemandedPrecision(Operation *root, const FloatRanges &ranges);

  bool endsNarrow(Value value) const { return uses.contains(value); }
  bool endsInBF16(Value value) const;
  bool isNarrow(Value value) const;
  /// The answers to the first two.
  Precision getPrecision(Value value) const;

private:
  struct Use {
    /// How often what the value may add to the error has been halved.
    unsigned depth = 0;
    bool inBF16 = true;
  };
  std::optional<Use> inferUse(OpOperand &use, const FloatRanges &ranges) const;

  llvm::DenseMap<Value, Use> uses;
};

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_MATH_DEMANDEDPRECISION_H
