//===- ExhaustiveResiduals.cpp - Residuals by trying all choices ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExhaustiveResiduals.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The values that backward needs, by the numbers that the search gives them,
/// and the work that operations share and that one of them has done.
using Needed = std::set<unsigned>;

class Search {
public:
  Search(CostModel &costs, size_t maxStates)
      : costs(costs), maxStates(maxStates) {}

  std::optional<Cost> run(ArrayRef<Value> read);

private:
  /// Collects what backward could need, and the operations in between.
  void collect(ArrayRef<Value> read);
  unsigned getNumber(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }
  unsigned getNumber(const SharedWork &shared) {
    constexpr unsigned kFirst = 1u << 30;
    return sharedNumbers
        .try_emplace(shared.leader, kFirst + sharedNumbers.size())
        .first->second;
  }
  /// Notes a choice that needs `needed` of what comes before.
  static void add(std::map<Needed, Cost> &states, const Needed &needed,
                  Cost cost) {
    auto [it, isNew] = states.try_emplace(needed, cost);
    if (!isNew)
      it->second = std::min(it->second, cost);
  }
  /// Makes both choices for `op` in each of `states`.
  std::map<Needed, Cost> choose(Operation *op,
                                const std::map<Needed, Cost> &states);

  CostModel &costs;
  size_t maxStates;
  DenseMap<Value, unsigned> numbers;
  /// The numbers of shared work, above those of values, by its leader.
  DenseMap<Operation *, unsigned> sharedNumbers;
  llvm::SetVector<Value> values;
  SmallVector<Operation *> ops;
};
} // namespace

void Search::collect(ArrayRef<Value> read) {
  llvm::SetVector<Operation *> defining;
  values.insert(read.begin(), read.end());
  for (unsigned next = 0; next < values.size(); ++next) {
    Operation *def = values[next].getDefiningOp();
    if (!def || !defining.insert(def) ||
        !(isa<AlternativesOp>(def) || costs.mayRecompute(def)))
      continue;
    forEachReadOperand(def, [&](Value operand) { values.insert(operand); });
  }
  ops = defining.takeVector();
  llvm::sort(ops, [](Operation *first, Operation *second) {
    return second->isBeforeInBlock(first);
  });
}

std::map<Needed, Cost> Search::choose(Operation *op,
                                      const std::map<Needed, Cost> &states) {
  std::map<Needed, Cost> next;
  SharedWork shared = costs.findSharedWork(op);
  for (const auto &[needed, cost] : states) {
    Needed others = needed;
    // The leader is the last that asks whether it was done.
    Cost::Count time = costs.mayRecompute(op) ? costs.getRecomputeTime(op) : 0;
    if (shared.leader && others.count(getNumber(shared)))
      time -= shared.time;
    if (shared.leader == op)
      others.erase(getNumber(shared));
    size_t before = others.size();
    Cost saved = cost;
    for (Value result : op->getResults())
      if (others.erase(getNumber(result)))
        saved += costs.getSaveCost(result);
    bool isNeeded = others.size() != before;
    if (isNeeded && isa<AlternativesOp>(op)) {
      for (Value value : op->getOperands()) {
        Needed either = others;
        either.insert(getNumber(value));
        add(next, either, cost);
      }
      continue;
    }
    add(next, others, saved);
    if (!isNeeded || !costs.mayRecompute(op))
      continue;
    forEachReadOperand(
        op, [&](Value operand) { others.insert(getNumber(operand)); });
    if (shared.leader && shared.leader != op)
      others.insert(getNumber(shared));
    add(next, others, cost + Cost{0, time});
  }
  return next;
}

std::optional<Cost> Search::run(ArrayRef<Value> read) {
  collect(read);
  Needed first;
  for (Value value : read)
    first.insert(getNumber(value));
  std::map<Needed, Cost> states = {{first, Cost()}};
  for (Operation *op : ops) {
    states = choose(op, states);
    if (states.size() > maxStates)
      return std::nullopt;
  }
  // What is left are arguments.
  std::optional<Cost> least;
  for (auto [needed, cost] : states) {
    for (Value value : values)
      if (needed.count(getNumber(value)))
        cost += costs.getSaveCost(value);
    if (!least || cost < *least)
      least = cost;
  }
  return least;
}

std::optional<Cost> fad::test::findLeastCost(ArrayRef<Value> read,
                                             CostModel &costs,
                                             size_t maxStates) {
  return Search(costs, maxStates).run(read);
}
