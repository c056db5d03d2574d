//===- Rule.cpp - Policies that follow a rule -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the policies that do not optimize: `bp` keeps the values on a tape,
// `fad` the derivative of a region, `recompute` its source. From the values
// that backward reads, a search goes through the operations that the policy
// repeats to the values that it saves; of those that derive from a common root,
// the root is saved.
//
//===----------------------------------------------------------------------===//

#include "Rule.h"
#include "Alternatives.h"
#include "Materialize.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Candidates/DerivedValues.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Candidates/Tape.h"
#include "fad/Transforms/Residuals/Selection/ResidualSelection.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fad;

bool fad::isBeyond(Policy policy, RecomputeLevel level) {
  return policy == Policy::recompute && level == RecomputeLevel::nothing;
}

void fad::prepareForRule(func::FuncOp function, Policy policy) {
  if (policy == Policy::bp)
    exposeTape(function);
  takeFirstAlternatives(function);
}

Rule::Rule(const JointFunction &joint, Policy policy,
           const Recomputation &recomputation)
    : policy(policy), recomputation(recomputation),
      results(joint.getResults().begin(), joint.getResults().end()) {
  findNeeded(joint);
  // A tape keeps the operands of adjoints.
  if (policy == Policy::bp)
    return;
  SmallVector<Value> saved = llvm::filter_to_vector(
      needed, [&](Value value) { return isSaved(value); });
  derived = findDerived(
      saved, {policy, [&](Operation *op) { return isRecomputed(op); },
              [&](Value value) { return recomputation.isAlive(value); }});
  if (!derived.empty())
    findNeeded(joint);
}

void Rule::findNeeded(const JointFunction &joint) {
  needed = findReadValues(joint);
  for (unsigned next = 0; next < needed.size(); ++next)
    if (!isSaved(needed[next]))
      forEachReadOperand(needed[next].getDefiningOp(),
                         [&](Value operand) { needed.insert(operand); });
}

bool Rule::isRecomputed(Operation *op) const {
  if (recomputation.contains(op))
    return true;
  if (isBetweenCheckpoints(op))
    return false;
  if (derived.contains(op))
    return true;
  bool isAdjoint = op->hasAttr(FadDialect::kAdjointOfAttr);
  // Derivatives of regions are the only candidates among values that only
  // backward needs.
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return isAdjoint && structured.getNumReductionLoops() == 0;
  if (!isa<ElementwiseOp>(op))
    return false;
  if (policy == Policy::bp)
    return isAdjoint;
  return policy == Policy::recompute;
}

bool Rule::isSaved(Value value) const {
  Operation *def = value.getDefiningOp();
  return !def || !isRecomputed(def) ||
         (isa<ElementwiseOp>(def) && results.contains(value));
}

int64_t Rule::getBytes(int64_t assumedSize) const {
  SizeSymbols symbols;
  Cost::Count bytes = 0;
  for (Value value : needed)
    if (isSaved(value) && !recomputation.isKept(value))
      bytes += getAssumedBytes(value, symbols, assumedSize);
  return saturate(bytes);
}

int64_t Rule::getTime(CostModel &costs) const {
  Cost::Count time = 0;
  DenseSet<Operation *> computed;
  for (Value value : needed) {
    if (isSaved(value))
      time += costs.getSaveCost(value).time;
    else if (computed.insert(value.getDefiningOp()).second)
      time += costs.getRecomputeTime(value.getDefiningOp());
  }
  return saturate(time);
}
