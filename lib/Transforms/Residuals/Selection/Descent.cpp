//===- Descent.cpp - From little time to few bytes ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selections between a fast one and one of few bytes, by a time that no edges
// of a network add up to: that of the kernels of a compiler. The components in
// which two cuts differ change over one after the other. Layers are alike, so
// components are tried in groups: every second one of those that are the same
// but for their place, since a sum that is computed again costs more if its
// operand is, too.
//
//===----------------------------------------------------------------------===//

#include "MinCutSelection.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fad;

/// The groups that change over, those of the most bytes.
static constexpr size_t kMostGroups = 32;

/// A group changes over for one in so many bytes. The statistics of
/// normalizations are less, and a kernel that computes them again may not be
/// the one that a compiler makes.
static constexpr int64_t kLeastPart = 1 << 12;

using Cut = ResidualNetwork::Cut;

Cut ResidualNetwork::getCut(const llvm::DenseSet<Value> &wanted) const {
  SmallVector<Value> valueAt(numNodes);
  for (Value value : values)
    valueAt[nodeOf.lookup(value)] = value;
  std::vector<SmallVector<unsigned, 2>> before(numNodes);
  for (const Edge &edge : edges)
    before[edge.to].push_back(edge.from);
  Cut cut;
  cut.sinkSide.resize(numNodes);
  SmallVector<unsigned> worklist = {sink};
  while (!worklist.empty()) {
    unsigned node = worklist.pop_back_val();
    if (node == source || cut.sinkSide.test(node))
      continue;
    cut.sinkSide.set(node);
    if (Value value = valueAt[node];
        value && wanted.contains(value) && !costs.getSaveCost(value).isInfinite)
      continue;
    llvm::append_range(worklist, before[node]);
  }
  cut.cost = getCost(cut.sinkSide);
  return cut;
}

Cut ResidualNetwork::dropComputable(const Cut &cut) const {
  Selection selection = getResiduals(cut);
  Cut least = cut;
  // Readers come before their operands.
  for (Value value : values) {
    if (!selection.saved.erase(value))
      continue;
    // A value that cannot be computed again has others saved for it, or itself.
    Cut without = getCut(selection.saved);
    Cost::Count bytes = costs.getSaveCost(value).bytes;
    if (!without.cost.isInfinite &&
        without.cost.bytes <= least.cost.bytes - bytes)
      least = std::move(without);
    else
      selection.saved.insert(value);
  }
  return least;
}

/// The kind of `value` and of its operation, wherever they stand.
static llvm::hash_code describe(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return llvm::hash_value(value.getType().getAsOpaquePointer());
  auto opaque = dyn_cast<OpaqueOp>(op);
  return llvm::hash_combine(
      value.getType().getAsOpaquePointer(), op->getName().getAsOpaquePointer(),
      opaque ? opaque.getName() : StringRef(), op->getNumOperands());
}

std::vector<SmallVector<unsigned>>
ResidualNetwork::groupAlike(const Difference &difference) const {
  const std::vector<Cost> &gains = difference.gains;
  SmallVector<llvm::hash_code> kinds(gains.size(), llvm::hash_code(0));
  for (Value value : values)
    if (unsigned node = nodeOf.lookup(value); difference.nodes[node]) {
      llvm::hash_code &kind = kinds[difference.parts[node]];
      kind = llvm::hash_combine(kind, describe(value));
    }
  llvm::MapVector<size_t, SmallVector<unsigned>> alike;
  for (auto [part, gain] : llvm::enumerate(gains))
    if (gain.bytes < 0)
      alike[llvm::hash_combine(kinds[part], int64_t(gain.bytes))].push_back(
          part);
  std::vector<SmallVector<unsigned>> groups;
  for (auto &[kind, parts] : alike) {
    SmallVector<unsigned> halves[2];
    for (auto [number, part] : llvm::enumerate(parts))
      halves[number % 2].push_back(part);
    for (SmallVector<unsigned> &half : halves)
      if (!half.empty())
        groups.push_back(std::move(half));
  }
  auto getBytes = [&](const SmallVector<unsigned> &group) {
    return gains[group.front()].bytes * Cost::Count(group.size());
  };
  llvm::stable_sort(groups, [&](const auto &a, const auto &b) {
    return getBytes(a) < getBytes(b);
  });
  if (groups.size() > kMostGroups)
    groups.resize(kMostGroups);
  return groups;
}

std::vector<SmallVector<unsigned>>
ResidualNetwork::groupAlone(const Difference &difference) const {
  SmallVector<unsigned> order;
  for (auto [part, gain] : llvm::enumerate(difference.gains))
    if (gain.bytes < 0)
      order.push_back(part);
  size_t size = llvm::divideCeil(order.size(), kMostGroups);
  std::vector<SmallVector<unsigned>> groups;
  for (ArrayRef<unsigned> rest = order; !rest.empty();) {
    ArrayRef<unsigned> group = rest.take_front(size);
    groups.emplace_back(group.begin(), group.end());
    rest = rest.drop_front(group.size());
  }
  return groups;
}

std::vector<Cut> ResidualNetwork::descend(
    const Cut &fast, const Cut &small,
    llvm::function_ref<Cost::Count(const Selection &)> getTime,
    bool isAlone) const {
  Difference difference = findDifference(fast, small);
  std::vector<Cut> cuts = {fast};
  Cost::Count time = getTime(getResiduals(fast));
  struct Group {
    SmallVector<unsigned> parts;
    Cut changed;
    Cost::Count time = 0;
    double rate = 0;
  };
  auto change = [&](Group &group) {
    Cut cut = takeParts(cuts.back(), small, difference, group.parts);
    group.time = getTime(getResiduals(cut));
    group.rate = double(group.time - time) /
                 double(cuts.back().cost.bytes - cut.cost.bytes);
    group.changed = std::move(cut);
  };
  std::vector<Group> groups;
  for (SmallVector<unsigned> &parts :
       isAlone ? groupAlone(difference) : groupAlike(difference)) {
    Cost::Count bytes = 0;
    for (unsigned part : parts)
      bytes -= difference.gains[part].bytes;
    if (kLeastPart * bytes >= fast.cost.bytes)
      change(groups.emplace_back(Group{std::move(parts), {}}));
  }
  auto isBetter = [](const Group &a, const Group &b) {
    return a.rate < b.rate;
  };
  while (!groups.empty()) {
    auto best = llvm::min_element(groups, isBetter);
    time = best->time;
    cuts.push_back(std::move(best->changed));
    groups.erase(best);
    // Others may take less time with it, or more.
    llvm::for_each(groups, change);
  }
  return cuts;
}
