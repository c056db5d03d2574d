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
//===----------------------------------------------------------------------===//

#include "MinCutSelection.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"

using namespace mlir;
using namespace mlir::fad;

ResidualNetwork::ResidualNetwork(ArrayRef<Value> read, CostModel &costs,
                                 llvm::function_ref<Value(Value)> resolve)
    : costs(costs), resolve(resolve) {
  for (Value value : read)
    addEdge(getNode(value), sink, Cost::infinite());
  // Each value's operation may bring in further values.
  for (unsigned next = 0; next < values.size(); ++next) {
    Value value = values[next];
    addEdge(getNode(value.getDefiningOp()), nodeOf.lookup(value),
            costs.getSaveCost(value));
  }
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
  for (const Edge &edge : edges)
    if (differs[edge.from] && differs[edge.to])
      parts.join(edge.from, edge.to);
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
  llvm::BitVector taken(difference.gains.size());
  for (auto [part, gain] : llvm::enumerate(difference.gains)) {
    if (gain.time >= 0 || cut.cost.bytes + gain.bytes > budget)
      continue;
    taken.set(part);
    cut.cost += gain;
  }
  for (unsigned node : difference.nodes.set_bits())
    if (taken[difference.parts[node]])
      cut.sinkSide[node] = other.sinkSide[node];
  return cut;
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
  llvm::BitVector taken(gains.size());
  size_t numGroups = std::min<size_t>(steps, order.size());
  for (size_t group = 1; group < numGroups; ++group) {
    size_t from = order.size() * (group - 1) / numGroups;
    size_t to = order.size() * group / numGroups;
    taken.reset();
    for (unsigned part : ArrayRef(order).slice(from, to - from)) {
      taken.set(part);
      cut.cost += gains[part];
    }
    for (unsigned node : difference.nodes.set_bits())
      if (taken[difference.parts[node]])
        cut.sinkSide[node] = fast.sinkSide[node];
    cuts.push_back(cut);
  }
  return cuts;
}

Selection ResidualNetwork::getResiduals(const Cut &cut) const {
  Selection result;
  result.cost = cut.cost;
  for (Value value : values) {
    auto op = nodeOfOp.find(value.getDefiningOp());
    bool isComputed = op != nodeOfOp.end() && cut.sinkSide[op->second];
    if (cut.sinkSide[nodeOf.lookup(value)] && !isComputed)
      result.saved.insert(value);
  }
  return result;
}

Selection fad::selectFewestBytes(ArrayRef<Value> read, CostModel &costs,
                                 llvm::function_ref<Value(Value)> resolve) {
  ResidualNetwork network(read, costs, resolve);
  return network.getResiduals(network.solve());
}
