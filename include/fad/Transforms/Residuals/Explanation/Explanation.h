//===- Explanation.h - Why values are kept or computed again ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_EXPLANATION_EXPLANATION_H
#define FAD_TRANSFORMS_RESIDUALS_EXPLANATION_EXPLANATION_H

#include "fad/Transforms/Residuals/Decider.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include <functional>

namespace mlir::fad {

/// The role of a kept value in backward.
enum class ResidualKind { argument, result, derivative, size, value };

/// Why backward may not execute an operation again.
struct Refusal {
  enum class Cause { contraction, sideEffects, level };
  Cause cause;
  /// For `level`: the lowest level that allows it.
  RecomputeLevel allowedBy = RecomputeLevel::all;
};

/// A value that is kept, and why.
struct KeptValue {
  ResidualKind kind;
  /// The value that backward reads. `residuals` may hold it in fewer bits.
  Value value;
  SmallVector<ResidualOp, 1> residuals;
  /// Bits an element, where these are fewer than those of its type; else 0.
  int64_t bits = 0;
  /// Set if backward may not execute the operation that computes the value.
  std::optional<Refusal> refusal;
  /// The other values to keep if backward computed this one again. Empty if
  /// there are none, or if the policy does not compare the two.
  SmallVector<Value> insteadOf;
  /// The estimated time to compute it again.
  int64_t recomputeTime = 0;
  /// The number of contractions before the value in the forward part, the one
  /// that computes it included.
  unsigned layer = 0;
};

/// An operation that backward executes again.
struct RecomputedOp {
  Operation *op;
  /// The estimated time, in units of the time that moving an eighth of a byte
  /// between memory and processor takes.
  int64_t time;
};

/// A selection of residuals, explained.
struct Explanation {
  SmallVector<KeptValue> kept;
  /// In the order of execution, without operations that hold no data, such as
  /// views and constants.
  SmallVector<RecomputedOp> recomputed;
};

/// Explains the residuals of `joint`, which `fad-select-residuals` has selected
/// with `options`, in linear time.
Explanation explainResiduals(const JointFunction &joint,
                             const SelectionOptions &options);

/// The explanation of `kept` beyond its reason, in words: its refusal, or the
/// bytes that it saves. `describe` gives the bytes of a value and its origin.
/// Empty for values that the rule of a policy keeps.
std::string explain(const KeptValue &kept,
                    llvm::function_ref<std::string(Value)> describe);

/// `location` in few words: `file:line:column` if it has these. Empty for an
/// unknown location.
std::string describeLocation(Location location);

/// Emits the explanation as optimization remarks of the category
/// `fad-residuals`, where the context has remarks enabled: `Kept` and
/// `Recomputed` as passed ones, `Refused` as missed ones, `Free` as analysis,
/// and in `Selected`, how many there are of each, and the `decider`.
/// `function` is a joint function whose residuals have been chosen.
void emitRemarks(func::FuncOp function, const SelectionOptions &options,
                 const Decider &decider);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_EXPLANATION_EXPLANATION_H
