//===- ResidualSelection.h - Decide what crosses to backward ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_RESIDUALSELECTION_H
#define FAD_TRANSFORMS_RESIDUALS_RESIDUALSELECTION_H

#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// The policies that follow a rule.
inline constexpr Policy kRules[] = {Policy::fad, Policy::recompute, Policy::bp};

/// What `fad-select-residuals` does with the joint function `function`. With a
/// budget that no choice is within, what takes the fewest bytes is selected; for
/// that, `auto` looks at what those of `rules` select, too. Fails, with an error,
/// where marks or options do not make sense.
LogicalResult selectResiduals(func::FuncOp function,
                              const FadSelectResidualsOptions &options,
                              ArrayRef<Policy> rules = kRules);

/// The bytes of `value`, a size that is known only at run time counting as
/// `assumedSize`; as many as there can be where its type does not say.
int64_t getAssumedBytes(Value value, SizeSymbols &symbols,
                        int64_t assumedSize);

/// The bytes that `selected`, a joint function after that, keeps of what is not
/// alive anyway. A size that is known only at run time counts as `assumedSize`,
/// and what is kept to know sizes not at all: no policy chooses it.
int64_t countKeptBytes(func::FuncOp selected, int64_t assumedSize);

/// Fails, with an error, where `bytes`, the least that can be kept, is beyond
/// the budget.
LogicalResult checkBudget(func::FuncOp function,
                          const FadSelectResidualsOptions &options,
                          int64_t bytes);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_RESIDUALSELECTION_H
