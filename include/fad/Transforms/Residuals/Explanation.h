//===- Explanation.h - Why values are kept or computed again ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_EXPLANATION_H
#define FAD_TRANSFORMS_RESIDUALS_EXPLANATION_H

#include "fad/IR/Fad.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include <functional>

namespace mlir::fad {

/// What a kept value is to backward.
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
  /// What backward needs. `residuals` may hold it in fewer bits.
  Value value;
  SmallVector<ResidualOp, 1> residuals;
  /// Bits an element, where these are fewer than those of its type; else 0.
  int64_t bits = 0;
  /// Set where the operation that computes it may not be executed again.
  std::optional<Refusal> refusal;
  /// What else would have to be kept if it were computed again instead. Empty
  /// where that is nothing, or not what the policy weighs.
  SmallVector<Value> insteadOf;
  /// The estimated time to compute it again.
  int64_t recomputeTime = 0;
  /// How many contractions come before it in the forward part, the one that
  /// computes it included.
  unsigned layer = 0;
};

/// An operation that backward executes again.
struct RecomputedOp {
  Operation *op;
  /// Its estimated time, in the time that it takes to move an eighth of a byte
  /// between memory and processor.
  int64_t time;
};

/// A choice of residuals, explained.
struct Explanation {
  SmallVector<KeptValue> kept;
  /// In the order of execution. What holds no data of its own, such as views
  /// and constants, is left out.
  SmallVector<RecomputedOp> recomputed;
};

/// What the choice of residuals was made by: options of `fad-select-residuals`.
struct ExplanationOptions {
  Policy policy;
  RecomputeLevel recompute = RecomputeLevel::elementwise;
  int64_t assumedSize = 128;
};

/// Explains the residuals of `joint`, which `fad-select-residuals` has chosen.
/// Takes time in proportion to the size of the function.
Explanation explainResiduals(const JointFunction &joint,
                             const ExplanationOptions &options);

/// The part of `kept` that its reason does not say, in words: that it was
/// refused, and why, or what it saves. `describe` gives the bytes of a value,
/// and where it comes from. Empty for what is kept by the rule of a policy.
std::string explain(const KeptValue &kept,
                    llvm::function_ref<std::string(Value)> describe);

/// Where `location` is, in few words: `file:line:column` where it says that.
/// Empty for an unknown location.
std::string describeLocation(Location location);

/// Emits the explanation as optimization remarks of the category
/// `fad-residuals`, where the context has remarks enabled: `Kept` and
/// `Recomputed` as passed ones, `Refused` as missed ones, `Free` as analysis.
/// `function` is a joint function whose residuals have been chosen.
void emitRemarks(func::FuncOp function, const ExplanationOptions &options);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_EXPLANATION_H
