//===- Rule.h - Policies that follow a rule ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_RULE_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_RULE_H

#include "fad/Transforms/Residuals/Costs/CostModel.h"

namespace mlir::fad {

class JointFunction;
class Recomputation;

/// Whether the rule of `policy` repeats more than `level` allows `auto`.
bool isBeyond(Policy policy, RecomputeLevel level);

/// Rewrites `function`, a joint function, to the form for the rule of `policy`:
/// without alternatives, and for `bp` with the values on a tape.
void prepareForRule(func::FuncOp function, Policy policy);

/// The residuals that `bp`, `recompute` and `fad` save of a joint function
/// without alternatives.
class Rule {
public:
  Rule(const JointFunction &joint, Policy policy,
       const Recomputation &recomputation);

  bool isSaved(Value value) const;
  /// The bytes of the residuals that are not live anyway.
  int64_t getBytes(int64_t assumedSize) const;
  /// The time to keep the residuals, and to compute the rest again.
  int64_t getTime(CostModel &costs) const;

private:
  bool isRecomputed(Operation *op) const;
  /// Finds the values that backward needs, and the residuals among them.
  void findNeeded(const JointFunction &joint);

  Policy policy;
  const Recomputation &recomputation;
  DenseSet<Value> results;
  /// The values that backward reads, and those from which it computes them
  /// again.
  llvm::SetVector<Value> needed;
  /// The operations that the policy would not repeat, but whose results derive
  /// from a residual.
  DenseSet<Operation *> derived;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_RULE_H
