//===- MinCutSelection.cpp - Residuals of least cost ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the network whose cuts are the selections, from the values that
// backward reads towards the operands, as far as operations may be repeated,
// and reads selections off its minimum cuts. Two cuts differ in connected
// components that change independently, by which others are made between them.
//
// Between the least time and the fewest bytes, the minimum cut for the weight
// of bytes against time under which two neighbors are equally good is the next
// selection, or shows that there is none. A budget bisects in this way, and
// takes what still fits of the faster neighbor.
//
//===----------------------------------------------------------------------===//

#include "MinCutSelection.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-select-residuals"

using Cut = ResidualNetwork::Cut;

ResidualNetwork::ResidualNetwork(ArrayRef<Value> read, CostModel &costs,
                                 llvm::function_ref<Value(Value)> resolve)
    : costs(costs), resolve(resolve) {
  SmallVector<unsigned> given;
  for (Value value : read)
    addEdge(getNode(value), sink, Cost::infinite());
  // Each value's operation may bring in further values.
  for (unsigned next = 0; next < values.size(); ++next) {
    Value value = values[next];
    unsigned maker = getNode(value.getDefiningOp());
    Cost cost = costs.getSaveCost(value);
    addEdge(maker, nodeOf.lookup(value), cost);
    if (maker == source && !cost.isInfinite && cost.bytes == 0)
      given.push_back(nodeOf.lookup(value));
  }
  isGiven.resize(numNodes);
  for (unsigned node : given)
    isGiven.set(node);
}

unsigned ResidualNetwork::getNode(Value value) {
  value = resolve(value);
  auto [it, isNew] = nodeOf.try_emplace(value);
  if (isNew) {
    it->second = numNodes++;
    values.push_back(value);
  }
  return it->second;
}

unsigned ResidualNetwork::getNode(Operation *op) {
  if (!op || !costs.mayRecompute(op))
    return source;
  auto [it, isNew] = nodeOfOp.try_emplace(op);
  if (!isNew)
    return it->second;
  unsigned node = it->second = numNodes++;
  SharedWork shared = costs.findSharedWork(op);
  if (shared.leader)
    addEdge(getSharedNode(shared), node, Cost::infinite());
  addEdge(source, node, {0, costs.getRecomputeTime(op) - shared.time});
  forEachReadOperand(op, [&](Value operand) {
    addEdge(getNode(operand), node, Cost::infinite());
  });
  return node;
}

unsigned ResidualNetwork::getSharedNode(const SharedWork &shared) {
  auto [it, isNew] = nodeOfShared.try_emplace(shared.leader);
  if (isNew) {
    it->second = numNodes++;
    addEdge(source, it->second, {0, shared.time});
  }
  return it->second;
}

/// The value of `cost` under `objective`.
static Cost weigh(Cost cost, Objective objective) {
  if (cost.isInfinite || objective.time == 0)
    return cost;
  return {objective.bytes * cost.bytes + objective.time * cost.time,
          cost.bytes};
}

ResidualNetwork::Cut ResidualNetwork::solve(Objective objective) const {
  MinCut minCut;
  for (unsigned node = 0; node < numNodes; ++node)
    minCut.addNode();
  for (const Edge &edge : edges)
    minCut.addEdge(edge.from, edge.to, weigh(edge.cost, objective));
  minCut.solve(source, sink);
  Cut cut;
  cut.sinkSide.resize(numNodes);
  for (unsigned node = 0; node < numNodes; ++node)
    cut.sinkSide[node] = minCut.isOnSinkSide(node);
  cut.cost = getCost(cut.sinkSide);
  return cut;
}

Cost ResidualNetwork::getCost(const llvm::BitVector &sinkSide) const {
  Cost cost;
  for (const Edge &edge : edges)
    if (!sinkSide[edge.from] && sinkSide[edge.to])
      cost += edge.cost;
  return cost;
}

ResidualNetwork::Difference
ResidualNetwork::findDifference(const Cut &from, const Cut &to) const {
  Difference result{from.sinkSide, llvm::IntEqClasses(numNodes), {}};
  auto &[differs, parts, gains] = result;
  differs ^= to.sinkSide;
  // The part of a value that is given is that of its readers, if they are in
  // one: it joins none.
  llvm::BitVector apart = differs;
  apart &= isGiven;
  differs.reset(apart);
  for (const Edge &edge : edges)
    if (differs[edge.from] && differs[edge.to])
      parts.join(edge.from, edge.to);
  llvm::DenseMap<unsigned, int> readerOf;
  for (const Edge &edge : edges) {
    if (!apart[edge.from] || !differs[edge.to])
      continue;
    int reader = parts.findLeader(edge.to);
    auto [it, isNew] = readerOf.try_emplace(edge.from, reader);
    if (!isNew && it->second != reader)
      it->second = -1;
  }
  for (auto [node, reader] : readerOf)
    if (reader >= 0) {
      parts.join(node, reader);
      differs.set(node);
    }
  parts.compress();
  gains.resize(parts.getNumClasses());
  for (const Edge &edge : edges) {
    if (!differs[edge.from] && !differs[edge.to])
      continue;
    Cost &gain = gains[parts[differs[edge.from] ? edge.from : edge.to]];
    if (!from.sinkSide[edge.from] && from.sinkSide[edge.to])
      gain -= edge.cost;
    if (!to.sinkSide[edge.from] && to.sinkSide[edge.to])
      gain += edge.cost;
  }
  return result;
}

ResidualNetwork::Cut ResidualNetwork::mix(Cut cut, const Cut &other,
                                          int64_t budget) const {
  Difference difference = findDifference(cut, other);
  SmallVector<unsigned> taken;
  Cost::Count bytes = cut.cost.bytes;
  for (auto [part, gain] : llvm::enumerate(difference.gains)) {
    if (gain.time >= 0 || bytes + gain.bytes > budget)
      continue;
    taken.push_back(part);
    bytes += gain.bytes;
  }
  return takeParts(std::move(cut), other, difference, taken);
}

std::vector<ResidualNetwork::Cut>
ResidualNetwork::interpolate(const Cut &small, const Cut &fast,
                             unsigned steps) const {
  Difference difference = findDifference(small, fast);
  const std::vector<Cost> &gains = difference.gains;
  // Nodes have the order in which backward needs them, and so have components.
  SmallVector<unsigned> order;
  for (unsigned part = 0; part < gains.size(); ++part)
    if (gains[part].time < 0)
      order.push_back(part);
  auto getTimePerByte = [&](unsigned part) {
    return double(-gains[part].time) /
           std::max<double>(1, double(gains[part].bytes));
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return getTimePerByte(a) > getTimePerByte(b);
  });

  std::vector<Cut> cuts;
  Cut cut = small;
  size_t numGroups = std::min<size_t>(steps, order.size());
  for (size_t group = 1; group < numGroups; ++group) {
    size_t from = order.size() * (group - 1) / numGroups;
    size_t to = order.size() * group / numGroups;
    cut = takeParts(std::move(cut), fast, difference,
                    ArrayRef(order).slice(from, to - from));
    cuts.push_back(cut);
  }
  return cuts;
}

Cut ResidualNetwork::takeParts(Cut cut, const Cut &other,
                               const Difference &difference,
                               ArrayRef<unsigned> parts) const {
  llvm::BitVector taken(difference.gains.size());
  for (unsigned part : parts)
    taken.set(part);
  for (unsigned node : difference.nodes.set_bits())
    if (taken[difference.parts[node]])
      cut.sinkSide[node] = other.sinkSide[node];
  // A value that is given is where a part reads it.
  cut.sinkSide.reset(isGiven);
  for (const Edge &edge : edges)
    if (isGiven[edge.from] && cut.sinkSide[edge.to])
      cut.sinkSide.set(edge.from);
  cut.cost = getCost(cut.sinkSide);
  return cut;
}

std::vector<Cut>
ResidualNetwork::exchange(const Cut &cut, const Cut &other, bool isFaster,
                          int64_t bytes, unsigned most,
                          llvm::function_ref<bool(const Cut &)> helps) const {
  Difference difference = findDifference(cut, other);
  const std::vector<Cost> &gains = difference.gains;
  SmallVector<unsigned> order;
  for (auto [part, gain] : llvm::enumerate(gains))
    if (isFaster ? gain.time < 0 && gain.bytes > 0 && gain.bytes <= bytes
                 : gain.bytes < 0 && -gain.bytes <= bytes)
      order.push_back(part);
  // The time of a byte, which is negative one way and positive the other.
  auto getTimePerByte = [&](unsigned part) {
    return double(gains[part].time) / std::abs(double(gains[part].bytes));
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return getTimePerByte(a) < getTimePerByte(b);
  });
  if (order.size() > most)
    order.resize(most);
  std::vector<Cut> cuts;
  SmallVector<unsigned> together;
  Cost::Count sum = 0;
  for (unsigned part : order) {
    cuts.push_back(takeParts(cut, other, difference, part));
    Cost::Count size = isFaster ? gains[part].bytes : -gains[part].bytes;
    if (!helps(cuts.back()) || sum + size > bytes)
      continue;
    sum += size;
    together.push_back(part);
    if (together.size() > 1)
      cuts.push_back(takeParts(cut, other, difference, together));
  }
  return cuts;
}

Selection ResidualNetwork::getResiduals(const Cut &cut) const {
  Selection result;
  result.cost = cut.cost;
  result.size = {unsigned(values.size()), unsigned(edges.size())};
  for (Value value : values) {
    auto op = nodeOfOp.find(value.getDefiningOp());
    bool isComputed = op != nodeOfOp.end() && cut.sinkSide[op->second];
    if (cut.sinkSide[nodeOf.lookup(value)] && !isComputed)
      result.saved.insert(value);
  }
  LDBG() << "a cut of " << edges.size() << " edges saves "
         << result.saved.size() << " of " << values.size() << " values";
  return result;
}

Selection fad::selectFewestBytes(ArrayRef<Value> read, CostModel &costs,
                                 llvm::function_ref<Value(Value)> resolve) {
  ResidualNetwork network(read, costs, resolve);
  return network.getResiduals(network.solve());
}

//===----------------------------------------------------------------------===//
// Between the least time and the fewest bytes
//===----------------------------------------------------------------------===//

/// The objective under which `fast` and `small` are equally good.
static Objective getObjectiveBetween(const Cut &fast, const Cut &small) {
  Cost::Count bytes = small.cost.time - fast.cost.time;
  Cost::Count time = fast.cost.bytes - small.cost.bytes;
  // The sums that a cut compares have to fit.
  constexpr Cost::Count limit = 1 << 24;
  while (std::max(bytes, time) > limit) {
    bytes = (bytes + 1) / 2;
    time = (time + 1) / 2;
  }
  return {bytes, time};
}

/// The best cut between two neighbors; `nullopt` if none is better than both
/// under the objective for which they are equal.
static std::optional<Cut> findBetween(const ResidualNetwork &network,
                                      const Cut &fast, const Cut &small) {
  if (fast.cost.time >= small.cost.time || fast.cost.bytes <= small.cost.bytes)
    return std::nullopt;
  Cut cut = network.solve(getObjectiveBetween(fast, small));
  if (cut.cost.bytes >= fast.cost.bytes || cut.cost.bytes <= small.cost.bytes)
    return std::nullopt;
  return cut;
}

static Cut findFastest(const ResidualNetwork &network) {
  return network.solve({0, 1});
}

std::vector<Selection> fad::findParetoFront(ArrayRef<Value> read,
                                            CostModel &costs, unsigned steps) {
  ResidualNetwork network(read, costs);
  std::vector<Cut> curve = {findFastest(network), network.solve()};
  // Each round looks between all neighbors.
  for (unsigned round = 0; round < 5; ++round) {
    std::vector<Cut> finer = {curve.front()};
    for (size_t next = 1; next < curve.size(); ++next) {
      if (std::optional<Cut> cut =
              findBetween(network, curve[next - 1], curve[next]))
        finer.push_back(std::move(*cut));
      finer.push_back(curve[next]);
    }
    bool isComplete = finer.size() == curve.size();
    curve = std::move(finer);
    if (isComplete)
      break;
  }
  std::vector<Selection> result;
  for (size_t next = 0; next < curve.size(); ++next) {
    if (next > 0 && steps > 0) {
      std::vector<Cut> mixtures =
          network.interpolate(curve[next], curve[next - 1], steps);
      for (const Cut &cut : llvm::reverse(mixtures))
        result.push_back(network.getResiduals(cut));
    }
    if (next == 0 || curve[next].cost.bytes < curve[next - 1].cost.bytes)
      result.push_back(network.getResiduals(curve[next]));
  }
  return result;
}

Selection fad::findWithinBudget(ArrayRef<Value> read, CostModel &costs,
                                int64_t budget) {
  ResidualNetwork network(read, costs);
  Cut fast = findFastest(network);
  if (fast.cost.bytes <= budget)
    return network.getResiduals(fast);
  Cut small = network.solve();
  if (small.cost.bytes > budget)
    return network.getResiduals(small);
  while (std::optional<Cut> cut = findBetween(network, fast, small))
    (cut->cost.bytes <= budget ? small : fast) = std::move(*cut);
  return network.getResiduals(network.mix(std::move(small), fast, budget));
}
