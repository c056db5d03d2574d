//===- SelectResiduals.cpp - Decide what crosses to backward --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Residuals/Alternatives.h"
#include "Residuals/CostModel.h"
#include "Residuals/DerivedValues.h"
#include "Residuals/LeastResiduals.h"
#include "Residuals/Materialize.h"
#include "Residuals/OutputForm.h"
#include "Residuals/Recomputation.h"
#include "Residuals/ResidualCurve.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/Explanation.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Tape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTRESIDUALS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Policies that follow a rule
//===----------------------------------------------------------------------===//

namespace {
/// What `bp`, `recompute` and `fad` save.
class Rule {
public:
  Rule(const JointFunction &joint, Policy policy,
       const Recomputation &recomputation);

  bool isSaved(Value value) const;

private:
  bool isRecomputed(Operation *op) const;
  /// Finds what is computed again although the policy would save it.
  void findDerivedValues(const JointFunction &joint);

  Policy policy;
  const Recomputation &recomputation;
  DenseSet<Value> results;
  /// What is computed again because it derives from something that is kept.
  DenseSet<Operation *> derived;
};
} // namespace

Rule::Rule(const JointFunction &joint, Policy policy,
           const Recomputation &recomputation)
    : policy(policy), recomputation(recomputation),
      results(joint.getResults().begin(), joint.getResults().end()) {
  // A tape keeps what each adjoint reads.
  if (policy != Policy::bp)
    findDerivedValues(joint);
}

bool Rule::isRecomputed(Operation *op) const {
  if (recomputation.contains(op) || derived.contains(op))
    return true;
  bool isAdjoint = op->hasAttr(FadDialect::kAdjointOfAttr);
  // Of what only backward needs, the derivatives of regions are worth a choice.
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

void Rule::findDerivedValues(const JointFunction &joint) {
  llvm::SetVector<Value> reached = findReadValues(joint);
  SmallVector<Value> saved;
  for (unsigned next = 0; next < reached.size(); ++next) {
    if (isSaved(reached[next]))
      saved.push_back(reached[next]);
    else
      forEachReadOperand(reached[next].getDefiningOp(),
                         [&](Value operand) { reached.insert(operand); });
  }
  derived = findDerived(
      saved, {policy, [&](Operation *op) { return isRecomputed(op); },
              [&](Value value) { return recomputation.isAlive(value); }});
}

/// Selects by a rule.
static void selectByRule(const JointFunction &joint, Policy policy) {
  takeFirstAlternatives(joint.getFunction());
  Recomputation recomputation(joint);
  Rule rule(joint, policy, recomputation);
  ResidualChoice choice;
  choice.isSaved = [&](Value value) { return rule.isSaved(value); };
  choice.getEncoding = [](Value) { return std::nullopt; };
  choice.getOperandReason = [&](Operation *op) -> ResidualReason {
    if (!isa<ElementwiseOp>(op))
      return {"read by an adjoint"};
    return {policy == Policy::bp ? "value on the tape" : "source of a region"};
  };
  materialize(joint, choice);
}

//===----------------------------------------------------------------------===//
// The policy that takes the least
//===----------------------------------------------------------------------===//

/// The choice of fewest bytes or, with a budget, of little time within that.
/// Fails where not even the fewest bytes are within it.
static FailureOr<LeastResiduals>
chooseResiduals(const JointFunction &joint, CostModel &costs,
                const FadSelectResidualsOptions &options) {
  llvm::SetVector<Value> read = findReadValues(joint);
  if (options.residualBudget < 0)
    return findLeastResiduals(read.getArrayRef(), costs);
  LeastResiduals chosen =
      findWithinBudget(read.getArrayRef(), costs, options.residualBudget);
  if (chosen.cost.bytes <= options.residualBudget)
    return chosen;
  return joint.getFunction().emitError("no choice of residuals takes ")
         << options.residualBudget << " bytes or fewer: the least is "
         << chosen.cost.bytes << " bytes with recompute="
         << stringifyRecomputeLevel(options.recompute)
         << "; raise the budget, or let backward compute more again";
}

/// Selects what takes the fewest bytes, then the least time.
static LogicalResult selectLeast(const JointFunction &joint,
                                 const FadSelectResidualsOptions &options) {
  OutputFormReasons reasons;
  if (options.branchBits)
    reasons = addOutputForms(joint);
  Recomputation recomputation(joint);
  CostModel costs(recomputation, options.recompute, options.assumedSize,
                  options.derivativeBits);
  chooseAlternatives(joint, costs);
  // More is alive than in a function that has all alternatives.
  Recomputation afterChoice(joint);
  costs.setRecomputation(afterChoice);
  FailureOr<LeastResiduals> least = chooseResiduals(joint, costs, options);
  if (failed(least))
    return failure();
  ResidualChoice choice;
  choice.isSaved = [&](Value value) { return least->saved.contains(value); };
  choice.getEncoding = [&](Value value) { return costs.findEncoding(value); };
  choice.getOperandReason = [&](Operation *op) -> ResidualReason {
    if (auto it = reasons.find(op); it != reasons.end())
      return {it->second.text, it->second.error};
    return {isa<ElementwiseOp>(op) ? "source of a region"
                                   : "read by an adjoint"};
  };
  materialize(joint, choice);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Drops results of `op` that nothing reads; a kernel writes all it has.
static void dropUnusedResults(RewriterBase &rewriter, ElementwiseOp op) {
  SmallVector<Value> used, yielded;
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), op.getYield().getValues()))
    if (!result.use_empty()) {
      used.push_back(result);
      yielded.push_back(value);
    }
  if (used.empty() || used.size() == op->getNumResults() ||
      op->hasAttr(FadDialect::kKernelAttr))
    return;
  Block *block = op.getBodyBlock();
  std::unique_ptr<Block> body(op->getRegion(0).getBlocks().remove(block));
  body->getTerminator()->erase();
  rewriter.setInsertionPoint(op);
  ElementwiseOp rest =
      buildElementwise(rewriter, op.getLoc(), TypeRange(ValueRange(used)),
                       std::move(body), op.getInputs(), yielded);
  rest->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  simplifyFused(rewriter, rest);
  for (auto [result, replacement] : llvm::zip_equal(used, rest->getResults()))
    rewriter.replaceAllUsesWith(result, replacement);
  rewriter.eraseOp(op);
}

namespace {
struct FadSelectResidualsPass
    : fad::impl::FadSelectResidualsBase<FadSelectResidualsPass> {
  using FadSelectResidualsBase::FadSelectResidualsBase;

  /// An earlier selection makes way for this one.
  static void dropResiduals(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    for (auto residual :
         llvm::make_early_inc_range(function.front().getOps<ResidualOp>()))
      rewriter.replaceOp(residual, residual.getValue());
  }

  /// The marks have served, and would keep equal operations apart.
  static void dropTape(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    function.walk([&](ElementwiseOp op) {
      for (Operation &inner : *op.getBodyBlock())
        inner.removeAttr(FadDialect::kTapeAttr);
      simplifyBody(rewriter, op);
    });
  }

  /// Fails where options do not make sense.
  LogicalResult checkOptions() {
    func::FuncOp function = getOperation();
    if (assumedSize < 1)
      return function.emitError("assumed-size is ")
             << assumedSize.getValue() << "; give a size of at least 1";
    if (derivativeBits < 0 || derivativeBits > 8)
      return function.emitError("derivative-bits is ")
             << derivativeBits.getValue()
             << "; give 1 to 8 bits, or 0 to keep derivatives exactly";
    if (policy == Policy::automatic)
      return success();
    // An option that does nothing is a mistake.
    auto fail = [&](const Twine &option) {
      return function.emitError()
             << option << " is for the policy auto, but the policy is "
             << stringifyPolicy(policy);
    };
    if (residualBudget >= 0)
      return fail("a residual-budget");
    if (recompute != FadSelectResidualsOptions().recompute)
      return fail("recompute=" + stringifyRecomputeLevel(recompute));
    if (derivativeBits != 0)
      return fail("derivative-bits");
    if (branchBits)
      return fail("branch-bits");
    return success();
  }

  /// What was offered as a candidate and is not read is not computed.
  static void dropCandidates(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    for (auto op :
         llvm::make_early_inc_range(function.front().getOps<ElementwiseOp>()))
      dropUnusedResults(rewriter, op);
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!JointFunction::isJoint(function))
      return;
    if (failed(checkOptions()) || failed(JointFunction::get(function)))
      return signalPassFailure();
    dropResiduals(function);
    if (policy == Policy::bp)
      exposeTape(function);
    JointFunction joint = *JointFunction::get(function);
    FadSelectResidualsOptions options = {policy,      recompute,
                                         assumedSize, derivativeBits,
                                         branchBits,  residualBudget};
    if (policy != Policy::automatic)
      selectByRule(joint, policy);
    else if (failed(selectLeast(joint, options)))
      return signalPassFailure();
    dropTape(function);
    dropCandidates(function);
    emitRemarks(function, {policy, recompute, assumedSize});
  }
};
} // namespace
