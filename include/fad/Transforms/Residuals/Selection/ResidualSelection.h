//===- ResidualSelection.h - Decide what crosses to backward ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_SELECTION_RESIDUALSELECTION_H
#define FAD_TRANSFORMS_RESIDUALS_SELECTION_RESIDUALSELECTION_H

#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Residuals/Decider.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// The policies that follow a rule.
inline constexpr Policy kRules[] = {Policy::fad, Policy::recompute, Policy::bp};

/// Estimates, in bytes, of the peak of a step under the chosen selection and
/// under all that it is one of, the fastest one first; of the time of the
/// chosen one and of its operations that no kernel fuses, of the fastest one,
/// and of the first proposal; and the rule or the cut that has chosen.
struct PeakEstimates {
  int64_t chosen = 0;
  std::vector<int64_t> front;
  int64_t time = 0, calls = 0, fastestTime = 0, proposedTime = 0;
  Decider decider;
};

/// Runs `fad-select-residuals` on the joint function `function`. A budget below
/// the fewest bytes selects the fewest bytes; to find them, `auto` compares the
/// selections of `rules`, too. A `peakBudget` below the lowest peak selects the
/// lowest peak. The estimated peaks of the result are 0 without a `peakBudget`.
/// Fails, with an error, if attributes or options are inconsistent.
FailureOr<PeakEstimates> selectResiduals(func::FuncOp function,
                                         const SelectionOptions &options,
                                         ArrayRef<Policy> rules = kRules);

/// The bytes of `value`, where a dynamic size counts as `assumedSize`; the
/// largest number if its type does not determine them.
int64_t getAssumedBytes(Value value, SizeSymbols &symbols, int64_t assumedSize);

/// The bytes that `selected`, a joint function with selected residuals, keeps
/// besides arguments and results. A dynamic size counts as `assumedSize`.
/// Residuals that only carry sizes do not count, since no policy selects them.
int64_t countKeptBytes(func::FuncOp selected, int64_t assumedSize);

/// Fails, with an error, if `bytes`, the fewest possible, exceed the budget of
/// residuals.
LogicalResult checkResidualBudget(func::FuncOp function,
                                  const SelectionOptions &options,
                                  int64_t bytes);

/// Fails, with an error, if `peak`, the lowest possible, exceeds its budget.
LogicalResult checkPeakBudget(func::FuncOp function,
                              const SelectionOptions &options, int64_t peak);

/// A selection of the policy `auto` for some budget.
struct TimeMemoryPoint {
  /// The bytes of the residuals.
  int64_t bytes;
  /// The estimated time to keep them and to compute the other values again, in
  /// units of the time that moving an eighth of a byte between memory and
  /// processor takes.
  int64_t time;
};

/// The selections of the policy `auto` between the one of least time and the
/// one of fewest bytes for `joint`, a joint function without residuals, and the
/// selections of the policies `rules` that keep fewer bytes. `joint` stays as
/// it is. `options` are those of the policy `auto`; their budget is ignored.
SmallVector<TimeMemoryPoint>
findTimeMemoryCurve(func::FuncOp joint, const SelectionOptions &options,
                    ArrayRef<Policy> rules);

/// The rule or the cut by which a pass for candidates has selected the
/// residuals of `function`, which forgets it.
Decider takeDecider(func::FuncOp function);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_SELECTION_RESIDUALSELECTION_H
