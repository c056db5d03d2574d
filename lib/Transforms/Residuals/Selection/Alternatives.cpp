//===- Alternatives.cpp - Choice among alternatives -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses one operand of each `fad.alternatives`. Operands that another one
// makes superfluous go first, then choices that need only what is kept for
// other readers. The rest falls into components that share candidates. In each,
// the minimum cut judges a combination of choices: all of them if they are few,
// or else one choice is changed at a time while that helps.
//
//===----------------------------------------------------------------------===//

#include "Alternatives.h"
#include "Materialize.h"
#include "MinCutSelection.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fad;

void fad::takeFirstAlternatives(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](AlternativesOp op) {
    rewriter.replaceOp(op, op.getValues().front());
  });
}

/// The depth of the search that decides whether one operand makes another one
/// superfluous.
static constexpr unsigned kMaxDepth = 4;

namespace {
/// The values that an operation reads.
using Reads = llvm::SmallSetVector<Value, 4>;

/// One `fad.alternatives`, with the operands that are worth a look.
struct Alternatives {
  AlternativesOp op;
  SmallVector<Value> candidates;
};

/// Values of the forward part that share candidates for residuals.
struct Component {
  SmallVector<Value> read;
  SmallVector<Alternatives *> open;
};

class Chooser {
public:
  Chooser(const JointFunction &joint, CostModel &costs)
      : joint(joint), costs(costs), read(findReadValues(joint)) {}

  void run();

private:
  /// The representative of `value` under the choices so far.
  Value resolve(Value value) const {
    auto it = chosen.find(value);
    return it == chosen.end() ? value : it->second;
  }
  Selection solve(ArrayRef<Value> values);
  /// The values that the operation which computes `value` reads.
  Reads getReads(Value value) const;

  /// The values that backward reads, or may read to compute those.
  llvm::SetVector<Value> findReachable();
  /// Whether `value` is computed approximately, and `other` is not.
  bool isMoreApproximate(Value value, Value other) const {
    return costs.isApproximation(value.getDefiningOp()) &&
           !costs.isApproximation(other.getDefiningOp());
  }
  /// The operands of `op` that no other one makes superfluous.
  SmallVector<Value> findCandidates(AlternativesOp op);
  /// Collects the open choices, and decides those with an operand that needs no
  /// more than the others.
  void collect();
  bool isFree(Value value) { return costs.getSaveCost(value).bytes == 0; }
  /// The time to compute `value` from the operands of its operation.
  Cost::Count getTime(Value value) {
    Operation *def = value.getDefiningOp();
    return def ? costs.getRecomputeTime(def) : 0;
  }
  /// Whether backward can compute `value` from its live values and `from`, in
  /// at most `depth` steps.
  bool isComputable(Value value, const Reads &from, unsigned depth);
  /// Whether the residuals that make `other` available in backward make `value`
  /// available too, at no further byte.
  bool dominates(Value value, Value other);
  /// Chooses operands that need only residuals kept for other readers.
  void takeAvailable();
  /// The remaining choices, by components.
  std::vector<Component> findComponents();
  void search(Component &component);
  void searchAll(Component &component);
  /// Chooses candidates of the same number for all, of the best number; returns
  /// the cost.
  Cost takeBestUniform(Component &component);
  void improve(Component &component);
  /// Prefers the accurate form if it takes no more bytes and no more time.
  void preferFirst();

  const JointFunction &joint;
  CostModel &costs;
  llvm::SetVector<Value> read;
  std::vector<Alternatives> all;
  /// Those that are not decided yet.
  SmallVector<Alternatives *> open;
  llvm::DenseMap<Value, Value> chosen;
};
} // namespace

Selection Chooser::solve(ArrayRef<Value> values) {
  return selectFewestBytes(values, costs,
                           [&](Value value) { return resolve(value); });
}

Reads Chooser::getReads(Value value) const {
  Reads reads;
  forEachReadOperand(value.getDefiningOp(),
                     [&](Value operand) { reads.insert(resolve(operand)); });
  return reads;
}

bool Chooser::isComputable(Value value, const Reads &from, unsigned depth) {
  if (from.contains(value) || isFree(value))
    return true;
  Operation *def = value.getDefiningOp();
  return depth != 0 && def && costs.mayRecompute(def) &&
         llvm::all_of(getReads(value), [&](Value operand) {
           return isComputable(operand, from, depth - 1);
         });
}

bool Chooser::dominates(Value value, Value other) {
  if (isFree(value))
    return true;
  Operation *def = value.getDefiningOp();
  if (costs.getSaveCost(other).bytes < costs.getSaveCost(value).bytes)
    return false;
  // `other` can only be saved; so can `value`.
  Operation *otherDef = other.getDefiningOp();
  if (!otherDef || !costs.mayRecompute(otherDef))
    return !isFree(other);
  if (!def || !costs.mayRecompute(def))
    return false;
  Reads otherReads = getReads(other);
  return llvm::all_of(getReads(value), [&](Value operand) {
    return isComputable(operand, otherReads, kMaxDepth);
  });
}

SmallVector<Value> Chooser::findCandidates(AlternativesOp op) {
  SmallVector<Value> candidates;
  for (auto [index, value] : llvm::enumerate(op.getValues())) {
    // Of two that need the same, the one that takes less time stays, or else
    // the first.
    bool isDominated = false;
    for (auto [otherIndex, other] : llvm::enumerate(op.getValues())) {
      if (otherIndex == index || isMoreApproximate(other, value) ||
          !dominates(other, value))
        continue;
      isDominated |= !dominates(value, other) ||
                     std::make_pair(getTime(other), otherIndex) <
                         std::make_pair(getTime(value), index);
    }
    if (!isDominated)
      candidates.push_back(value);
  }
  return candidates;
}

llvm::SetVector<Value> Chooser::findReachable() {
  llvm::SetVector<Value> reached = read;
  for (unsigned next = 0; next < reached.size(); ++next) {
    Operation *def = reached[next].getDefiningOp();
    if (def && (isa<AlternativesOp>(def) || costs.mayRecompute(def)))
      forEachReadOperand(def, [&](Value operand) { reached.insert(operand); });
  }
  return reached;
}

void Chooser::collect() {
  for (auto op : joint.getFunction().front().getOps<AlternativesOp>())
    all.push_back({op, {}});
  llvm::SetVector<Value> reachable = findReachable();
  for (Alternatives &alternatives : all) {
    alternatives.candidates = findCandidates(alternatives.op);
    if (alternatives.candidates.size() > 1 &&
        reachable.contains(alternatives.op))
      open.push_back(&alternatives);
    else
      chosen[alternatives.op] = alternatives.candidates.front();
  }
  // Operands of later choices may depend on open ones, which represent
  // themselves until then.
  for (Alternatives *alternatives : open)
    chosen[alternatives->op] = alternatives->candidates.front();
}

void Chooser::takeAvailable() {
  DenseSet<Value> openValues;
  for (Alternatives *alternatives : open)
    openValues.insert(alternatives->op);
  SmallVector<Value> others;
  for (Value value : read)
    if (!openValues.contains(value))
      others.push_back(value);
  Selection least = solve(others);
  // The values that backward can compute from these residuals.
  DenseSet<Value> available;
  auto isAvailable = [&](Value value) {
    return available.contains(resolve(value)) || isFree(resolve(value)) ||
           least.saved.contains(resolve(value));
  };
  for (Operation &op : joint.getFunction().front()) {
    if (!costs.mayRecompute(&op))
      continue;
    bool fromAvailable = true;
    forEachReadOperand(
        &op, [&](Value operand) { fromAvailable &= isAvailable(operand); });
    if (fromAvailable)
      available.insert(op.result_begin(), op.result_end());
  }
  llvm::erase_if(open, [&](Alternatives *alternatives) {
    auto it = llvm::find_if(alternatives->candidates, isAvailable);
    if (it == alternatives->candidates.end())
      return false;
    chosen[alternatives->op] = *it;
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

std::vector<Component> Chooser::findComponents() {
  llvm::EquivalenceClasses<void *> classes;
  auto link = [&](Value a, Value b) {
    b = resolve(b);
    if (!isFree(b))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  for (Operation &op : joint.getFunction().front().without_terminator())
    if (costs.mayRecompute(&op))
      for (Value result : op.getResults())
        forEachReadOperand(&op, [&](Value operand) { link(result, operand); });
  for (Alternatives *alternatives : open)
    for (Value candidate : alternatives->candidates)
      link(alternatives->op, candidate);

  llvm::MapVector<void *, Component> components;
  auto getLeader = [&](Value value) {
    return classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  };
  for (Alternatives *alternatives : open)
    components[getLeader(alternatives->op)].open.push_back(alternatives);
  for (Value value : read) {
    auto it = components.find(getLeader(resolve(value)));
    if (it != components.end())
      it->second.read.push_back(value);
  }
  std::vector<Component> result;
  for (auto &[leader, component] : components)
    result.push_back(std::move(component));
  return result;
}

/// Choices that are searched exactly, and cuts that are tried beyond that, for
/// one component.
static constexpr uint64_t kMaxChoices = 256;

void Chooser::search(Component &component) {
  uint64_t choices = 1;
  for (Alternatives *alternatives : component.open)
    choices =
        std::min(kMaxChoices + 1, choices * alternatives->candidates.size());
  if (choices <= kMaxChoices)
    searchAll(component);
  else
    improve(component);
}

void Chooser::searchAll(Component &component) {
  SmallVector<Alternatives *> &open = component.open;
  SmallVector<unsigned> current(open.size()), best = current;
  auto choose = [&](ArrayRef<unsigned> choice) {
    for (auto [alternatives, number] : llvm::zip_equal(open, choice))
      chosen[alternatives->op] = alternatives->candidates[number];
  };
  std::optional<Cost> least;
  for (;;) {
    choose(current);
    Cost cost = solve(component.read).cost;
    if (!least || cost < *least) {
      least = cost;
      best = current;
    }
    // The next choice: a number with one digit for each of `open`.
    unsigned digit = 0;
    while (digit < open.size() &&
           ++current[digit] == open[digit]->candidates.size())
      current[digit++] = 0;
    if (digit == open.size())
      break;
  }
  choose(best);
}

Cost Chooser::takeBestUniform(Component &component) {
  size_t numbers = 0;
  for (Alternatives *alternatives : component.open)
    numbers = std::max(numbers, alternatives->candidates.size());
  auto take = [&](size_t number) {
    for (Alternatives *alternatives : component.open) {
      ArrayRef<Value> candidates = alternatives->candidates;
      chosen[alternatives->op] =
          candidates[std::min(number, candidates.size() - 1)];
    }
    return solve(component.read).cost;
  };
  size_t best = 0;
  Cost least = take(best);
  for (size_t number = 1; number < numbers; ++number)
    if (Cost cost = take(number); cost < least) {
      least = cost;
      best = number;
    }
  return take(best);
}

void Chooser::improve(Component &component) {
  // A common change of all choices may help where no single change does.
  Cost least = takeBestUniform(component);
  uint64_t cuts = 0;
  for (bool improved = true; improved;) {
    improved = false;
    for (Alternatives *alternatives : component.open) {
      Value &choice = chosen[alternatives->op];
      Value best = choice;
      for (Value candidate : alternatives->candidates) {
        if (candidate == best || ++cuts > kMaxChoices)
          continue;
        choice = candidate;
        Cost cost = solve(component.read).cost;
        if (cost < least) {
          least = cost;
          best = candidate;
          improved = true;
        }
      }
      choice = best;
    }
  }
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void Chooser::preferFirst() {
  Selection least = solve(read.getArrayRef());
  // The values in backward, with their numbers of readers.
  llvm::MapVector<Value, unsigned> readers;
  for (Value value : read)
    ++readers[resolve(value)];
  auto isComputed = [&](Value value) {
    return !least.saved.contains(value) && value.getDefiningOp();
  };
  DenseSet<Operation *> executed;
  for (unsigned next = 0; next < readers.size(); ++next) {
    Value value = readers.begin()[next].first;
    if (isComputed(value) && executed.insert(value.getDefiningOp()).second)
      for (Value operand : getReads(value))
        ++readers[operand];
  }
  for (Alternatives &alternatives : all) {
    Value first = alternatives.op.getValues().front();
    Value &choice = chosen[alternatives.op];
    auto isThere = [&](Value operand) {
      return readers.contains(operand) || isFree(operand);
    };
    // Forward has all of its operands.
    if (!isComputed(choice) || !readers.contains(choice)) {
      choice = first;
      continue;
    }
    if (choice == first || !first.getDefiningOp() ||
        !costs.mayRecompute(first.getDefiningOp()) ||
        !llvm::all_of(getReads(first), isThere))
      continue;
    Cost::Count time = costs.getRecomputeTime(choice.getDefiningOp());
    for (Value operand : getReads(choice))
      if (isComputed(operand) && readers.lookup(operand) == 1)
        time += costs.getRecomputeTime(operand.getDefiningOp());
    if (costs.getRecomputeTime(first.getDefiningOp()) <= time)
      choice = first;
  }
}

void Chooser::run() {
  collect();
  if (all.empty())
    return;
  if (!open.empty())
    takeAvailable();
  for (Component &component : findComponents())
    search(component);
  preferFirst();
  // Reverse order, because a choice may refer to an earlier one.
  IRRewriter rewriter(joint.getFunction().getContext());
  for (Alternatives &alternatives : llvm::reverse(all))
    rewriter.replaceOp(alternatives.op, chosen.lookup(alternatives.op));
}

void fad::chooseAlternatives(const JointFunction &joint, CostModel &costs) {
  Chooser(joint, costs).run();
  // Those in bodies of control flow are no candidates.
  takeFirstAlternatives(joint.getFunction());
}

void fad::prepareForCut(
    func::FuncOp function, const SelectionOptions &options,
    llvm::function_ref<void(const JointFunction &, CostModel &,
                            const DerivativeFromOutputReasons &)>
        cut) {
  DerivativeFromOutputReasons reasons;
  if (options.derivativeFromOutput)
    reasons = addDerivativesFromOutput(JointFunction::getVerified(function));
  JointFunction all = JointFunction::getVerified(function);
  Recomputation recomputation(all);
  CostModel costs(recomputation, options);
  costs.setApproximations(llvm::to_vector(llvm::make_first_range(reasons)));
  chooseAlternatives(all, costs);
  // More values are live than in a function with all alternatives.
  JointFunction joint = JointFunction::getVerified(function);
  Recomputation afterChoice(joint);
  costs.restart(afterChoice);
  cut(joint, costs, reasons);
}
