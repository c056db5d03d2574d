//===- Rule.h - Policies that follow a rule ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_RULE_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_RULE_H

#include "CostModel.h"
#include "fad/Transforms/Passes.h"

namespace mlir::fad {

class JointFunction;
class Recomputation;

/// Whether the rule of `policy` computes more again than `level` lets `auto` do.
bool isBeyond(Policy policy, RecomputeLevel level);

/// Makes `function`, a joint function, what the rule of `policy` is for: without
/// alternatives, and for `bp` with the values that a tape holds.
void prepareForRule(func::FuncOp function, Policy policy);

/// What `bp`, `recompute` and `fad` save of a joint function without
/// alternatives.
class Rule {
public:
  Rule(const JointFunction &joint, Policy policy,
       const Recomputation &recomputation);

  bool isSaved(Value value) const;
  /// Whether all that the policy computes again may be computed again at the
  /// level of `costs`: a minimum cut, which chooses among all of that, keeps no
  /// more.
  bool isWithin(CostModel &costs) const;
  /// The bytes of what is saved and not alive anyway.
  int64_t getBytes(int64_t assumedSize) const;
  /// The time to keep what is saved, and to compute the rest again.
  int64_t getTime(CostModel &costs) const;

private:
  bool isRecomputed(Operation *op) const;
  /// Finds what backward needs, and what is saved of it.
  void findNeeded(const JointFunction &joint);

  Policy policy;
  const Recomputation &recomputation;
  DenseSet<Value> results;
  /// What backward reads, and what that is computed from again.
  llvm::SetVector<Value> needed;
  /// What is computed again, although the policy would save it, because it
  /// derives from something that is kept.
  DenseSet<Operation *> derived;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_RULE_H
