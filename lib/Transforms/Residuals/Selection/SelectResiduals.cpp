//===- SelectResiduals.cpp - Select residuals by policy -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: checks the options, selects by the policy's rule or by a minimum
// cut, and cleans up. Without a budget for the peak, `auto` also tries the
// rules, each on a copy of the function, and the fewest bytes win. A curve of
// time against memory has the Pareto front, and rules with fewer bytes.
//
//===----------------------------------------------------------------------===//

#include "Alternatives.h"
#include "Materialize.h"
#include "MinCutSelection.h"
#include "PeakBudget.h"
#include "Rule.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Residuals/Candidates/DerivativeFromOutput.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Residuals/Explanation/Explanation.h"
#include "fad/Transforms/Residuals/Selection/ResidualSelection.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTRESIDUALS
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-select-residuals"

//===----------------------------------------------------------------------===//
// Policies that follow a rule
//===----------------------------------------------------------------------===//

/// Selects by a rule, which has no budget.
static PeakEstimates selectByRule(func::FuncOp function, Policy policy) {
  prepareForRule(function, policy);
  JointFunction joint = JointFunction::getVerified(function);
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
  PeakEstimates peaks;
  peaks.decider.rule = policy;
  return peaks;
}

//===----------------------------------------------------------------------===//
// The policy that takes the least
//===----------------------------------------------------------------------===//

/// The selection of the fewest bytes, then of the least time, by a minimum cut;
/// with a budget that can be kept, of the least time within it. Sets `peaks`
/// with a budget for the peak.
static Selection select(const JointFunction &joint, CostModel &costs,
                        const SelectionOptions &options, PeakEstimates &peaks) {
  if (options.peakBudget >= 0) {
    PeakRange range;
    PeakSelection least = findWithinPeak(joint, costs, options, range);
    peaks.chosen = least.peak;
    peaks.front = std::move(range.peaks);
    peaks.time = saturate(least.time);
    peaks.calls = saturate(least.calls);
    peaks.fastestTime = saturate(range.fastestTime);
    peaks.proposedTime = saturate(range.proposedTime);
    return std::move(least.selection);
  }
  llvm::SetVector<Value> read = findReadValues(joint);
  if (options.residualBudget >= 0)
    return findWithinBudget(read.getArrayRef(), costs, options.residualBudget);
  if (isTrafficTimed(joint.getFunction(), options))
    return findWithinTraffic(joint, costs);
  return selectFewestBytes(read.getArrayRef(), costs);
}

/// Selects by `select`. Returns the peaks with a budget for them, and 0
/// without.
static PeakEstimates selectByCut(func::FuncOp function,
                                 const SelectionOptions &options) {
  PeakEstimates peaks;
  prepareForCut(
      function, options,
      [&](const JointFunction &joint, CostModel &costs,
          const DerivativeFromOutputReasons &reasons) {
        Selection least = select(joint, costs, options, peaks);
        peaks.decider.cut = least.size;
        ResidualChoice choice;
        choice.isSaved = [&](Value value) {
          return least.saved.contains(value);
        };
        choice.getPlace = [&](Value value) {
          return least.onHost.contains(value) ? Place::host : Place::device;
        };
        choice.getEncoding = [&](Value value) {
          return costs.findEncoding(value);
        };
        choice.getOperandReason = [&](Operation *op) -> ResidualReason {
          if (auto it = reasons.find(op); it != reasons.end())
            return {it->second.text, it->second.error};
          return {isa<ElementwiseOp>(op) ? "source of a region"
                                         : "read by an adjoint"};
        };
        materialize(joint, choice);
      });
  return peaks;
}

/// Selects by the cut, or by the one of the rules of `policies` that keeps
/// fewer bytes, if `auto` may repeat the operations that the rule repeats. Each
/// selection is made on a copy. The cut is optimal for one choice of
/// alternatives, but not all choices are tried.
static PeakEstimates selectLeast(func::FuncOp function,
                                 const SelectionOptions &options,
                                 ArrayRef<Policy> policies) {
  if (policies.empty() || isTrafficTimed(function, options))
    return selectByCut(function, options);
  PeakEstimates peaks;
  OwningOpRef<func::FuncOp> least;
  int64_t leastBytes = 0;
  auto consider = [&](std::optional<Policy> rule) {
    OwningOpRef<func::FuncOp> copy = function.clone();
    PeakEstimates estimates =
        rule ? selectByRule(*copy, *rule) : selectByCut(*copy, options);
    int64_t bytes = countKeptBytes(*copy, options.assumedSize);
    LDBG() << function.getSymName() << ": "
           << (rule ? stringifyPolicy(*rule) : "the cut") << " keeps " << bytes
           << " bytes";
    if (least && leastBytes <= bytes)
      return;
    least = std::move(copy);
    leastBytes = bytes;
    peaks = estimates;
  };
  consider({});
  for (Policy policy : policies)
    if (leastBytes > std::max<int64_t>(0, options.residualBudget) &&
        !isBeyond(policy, options.recompute))
      consider(policy);
  function.getBody().takeBody(least->getBody());
  return peaks;
}

int64_t fad::getAssumedBytes(Value value, SizeSymbols &symbols,
                             int64_t assumedSize) {
  // The size of packed numbers is not a sum of products.
  if (auto pack = value.getDefiningOp<PackOp>())
    return saturate(
        (Cost::Count(getAssumedBytes(pack.getCodes(), symbols, assumedSize)) *
             pack.getBits() +
         7) /
        8);
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return most;
  auto assume = [&](unsigned) -> std::optional<uint64_t> {
    return assumedSize;
  };
  return std::min(most, *bytes->substitute(assume).getConstant());
}

int64_t fad::countKeptBytes(func::FuncOp selected, int64_t assumedSize) {
  JointFunction joint = JointFunction::getVerified(selected);
  DenseSet<Value> alive(llvm::from_range, joint.getArguments());
  alive.insert(joint.getResults().begin(), joint.getResults().end());
  SizeSymbols symbols;
  Cost::Count sum = 0;
  for (auto residual : llvm::to_vector(selected.front().getOps<ResidualOp>())) {
    Value value = residual.getValue();
    if (alive.insert(value).second && residual.getReason() != "size")
      sum += getAssumedBytes(value, symbols, assumedSize);
  }
  // Shapes that were computed to tell sizes.
  eraseDeadOps(selected.front());
  return saturate(sum);
}

static constexpr StringLiteral kAdvice =
    "; raise the budget, or let backward compute more again";

LogicalResult fad::checkResidualBudget(func::FuncOp function,
                                       const SelectionOptions &options,
                                       int64_t bytes) {
  if (options.residualBudget < 0 || bytes <= options.residualBudget)
    return success();
  return function.emitError("no choice of residuals takes ")
         << options.residualBudget << " bytes or fewer: the least is " << bytes
         << " bytes with recompute="
         << stringifyRecomputeLevel(options.recompute) << kAdvice;
}

LogicalResult fad::checkPeakBudget(func::FuncOp function,
                                   const SelectionOptions &options,
                                   int64_t peak) {
  if (options.peakBudget < 0 || peak <= options.peakBudget)
    return success();
  return function.emitError("no choice of residuals keeps forward and "
                            "backward within ")
         << options.peakBudget << " bytes: the lowest peak is " << peak
         << " bytes with recompute="
         << stringifyRecomputeLevel(options.recompute) << kAdvice;
}

//===----------------------------------------------------------------------===//
// Time against memory
//===----------------------------------------------------------------------===//

static void addCuts(SmallVectorImpl<TimeMemoryPoint> &points,
                    func::FuncOp function, const SelectionOptions &options) {
  prepareForCut(
      function, options,
      [&](const JointFunction &joint, CostModel &costs, const auto &) {
        for (const Selection &choice :
             findParetoFront(findReadValues(joint).getArrayRef(), costs))
          points.push_back(
              {saturate(choice.cost.bytes), saturate(choice.cost.time)});
      });
}

static TimeMemoryPoint measureRule(func::FuncOp function, Policy policy,
                                   SelectionOptions options) {
  // A rule keeps derivatives exactly.
  options.derivativeBits = 0;
  prepareForRule(function, policy);
  JointFunction joint = JointFunction::getVerified(function);
  Recomputation recomputation(joint);
  CostModel costs(recomputation, options);
  Rule rule(joint, policy, recomputation);
  return {rule.getBytes(options.assumedSize), rule.getTime(costs)};
}

SmallVector<TimeMemoryPoint>
fad::findTimeMemoryCurve(func::FuncOp joint, const SelectionOptions &options,
                         ArrayRef<Policy> rules) {
  SmallVector<TimeMemoryPoint> points;
  if (failed(JointFunction::get(joint)))
    return points;
  // The choice of alternatives changes the function.
  addCuts(points, *OwningOpRef<func::FuncOp>(joint.clone()), options);
  for (Policy policy : rules) {
    if (isBeyond(policy, options.recompute))
      continue;
    OwningOpRef<func::FuncOp> copy = joint.clone();
    TimeMemoryPoint point = measureRule(*copy, policy, options);
    // In more time, a cut keeps fewer bytes.
    if (point.bytes < points.back().bytes)
      points.push_back(point);
  }
  return points;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Drops dead results of `op`; a kernel writes all of its results.
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

/// An earlier selection makes way for this one.
static void dropResiduals(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto residual :
       llvm::make_early_inc_range(function.front().getOps<ResidualOp>()))
    rewriter.replaceOp(residual, residual.getValue());
}

/// Erases `fad.tape`, which would keep CSE from merging equal operations.
static void dropTape(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](ElementwiseOp op) {
    for (Operation &inner : *op.getBodyBlock())
      inner.removeAttr(FadDialect::kTapeAttr);
    simplifyBody(rewriter, op);
  });
}

static void dropCandidates(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto op :
       llvm::make_early_inc_range(function.front().getOps<ElementwiseOp>()))
    dropUnusedResults(rewriter, op);
}

static LogicalResult checkOptions(func::FuncOp function,
                                  const SelectionOptions &options) {
  if (options.assumedSize < 1)
    return function.emitError("assumed-size is ")
           << options.assumedSize << "; give a size of at least 1";
  if (options.derivativeBits < 0 || options.derivativeBits > 8)
    return function.emitError("derivative-bits is ")
           << options.derivativeBits
           << "; give 1 to 8 bits, or 0 to keep derivatives exactly";
  if (options.residualBudget >= 0 && options.peakBudget >= 0)
    return function.emitError("residual-budget and peak-budget are "
                              "alternatives; give one of them");
  if (options.policy == Policy::automatic)
    return success();
  // An option without effect is an error.
  auto fail = [&](const Twine &option) {
    return function.emitError()
           << option << " is for the policy auto, but the policy is "
           << stringifyPolicy(options.policy);
  };
  if (options.residualBudget >= 0)
    return fail("a residual-budget");
  if (options.peakBudget >= 0)
    return fail("a peak-budget");
  if (options.recompute != SelectionOptions().recompute)
    return fail("recompute=" + stringifyRecomputeLevel(options.recompute));
  if (options.derivativeBits != 0)
    return fail("derivative-bits");
  if (options.derivativeFromOutput)
    return fail("derivative-from-output");
  return success();
}

FailureOr<PeakEstimates> fad::selectResiduals(func::FuncOp function,
                                              const SelectionOptions &options,
                                              ArrayRef<Policy> rules) {
  if (failed(checkOptions(function, options)) ||
      failed(JointFunction::get(function)))
    return failure();
  dropResiduals(function);
  PeakEstimates peaks;
  if (options.peakBudget >= 0)
    peaks = selectByCut(function, options);
  else if (options.policy == Policy::automatic)
    peaks = selectLeast(function, options, rules);
  else
    peaks = selectByRule(function, options.policy);
  dropTape(function);
  dropCandidates(function);
  return peaks;
}

static constexpr StringRef kDecider = "fad.decider";

/// Tells the pass that compares candidates which rule or cut has chosen.
static void setDecider(func::FuncOp function, const Decider &decider) {
  Builder builder(function.getContext());
  auto [candidates, edges] = decider.cut;
  function->setAttr(kDecider, decider.rule
                                  ? Attribute(builder.getStringAttr(
                                        stringifyPolicy(*decider.rule)))
                                  : builder.getDenseI32ArrayAttr(
                                        {int32_t(candidates), int32_t(edges)}));
}

Decider fad::takeDecider(func::FuncOp function) {
  Attribute decider = function->removeAttr(kDecider);
  if (auto rule = dyn_cast<StringAttr>(decider))
    return {symbolizePolicy(rule.getValue()), {}};
  auto size = cast<DenseI32ArrayAttr>(decider);
  return {{}, {unsigned(size[0]), unsigned(size[1])}};
}

namespace {
struct FadSelectResidualsPass
    : WithSelectionOptions<
          fad::impl::FadSelectResidualsBase<FadSelectResidualsPass>> {
  FadSelectResidualsPass() = default;
  FadSelectResidualsPass(const SelectionOptions &options,
                         std::optional<ArrayRef<Policy>> rules)
      : rules(rules.value_or(kRules)), isCandidate(rules.has_value()) {
    setSelection(options);
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!JointFunction::isJoint(function)) {
      markAllAnalysesPreserved();
      return;
    }
    SelectionOptions options = getSelection();
    FailureOr<PeakEstimates> peaks = selectResiduals(function, options, rules);
    if (failed(peaks) ||
        failed(checkPeakBudget(function, options, peaks->chosen)))
      return signalPassFailure();
    if (isCandidate)
      return setDecider(function, peaks->decider);
    int64_t bytes = countKeptBytes(function, assumedSize);
    if (failed(checkResidualBudget(function, options, bytes)))
      return signalPassFailure();
    numCandidates += peaks->decider.cut.candidates;
    numEdges += peaks->decider.cut.edges;
    numResiduals += llvm::range_size(function.front().getOps<ResidualOp>());
    keptBytes += bytes;
    emitRemarks(function, options, peaks->decider);
  }

private:
  SmallVector<Policy> rules{ArrayRef<Policy>(kRules)};
  bool isCandidate = false;
};
} // namespace

std::unique_ptr<Pass>
fad::createFadSelectResiduals(const SelectionOptions &options,
                              std::optional<ArrayRef<Policy>> rules) {
  return std::make_unique<FadSelectResidualsPass>(options, rules);
}
