//===- LeastResiduals.cpp - Residuals of least cost -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeastResiduals.h"
#include "CostModel.h"
#include "Recomputation.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The network of the values that backward may need.
class Network {
public:
  Network(CostModel &costs, llvm::function_ref<Value(Value)> resolve)
      : costs(costs), resolve(resolve), source(cut.addNode()),
        sink(cut.addNode()) {}

  void addRead(Value value) {
    cut.addEdge(getNode(value), sink, Cost::infinite());
  }
  LeastResiduals solve();

private:
  /// The node of `value`; new ones wait for their edges.
  unsigned getNode(Value value) {
    value = resolve(value);
    auto [it, isNew] = nodeOf.try_emplace(value);
    if (isNew) {
      it->second = cut.addNode();
      values.push_back(value);
    }
    return it->second;
  }
  /// The node of `op`, or the source where backward cannot execute it.
  unsigned getNode(Operation *op);
  void addEdges(Value value);

  CostModel &costs;
  llvm::function_ref<Value(Value)> resolve;
  MinCut cut;
  unsigned source, sink;
  DenseMap<Value, unsigned> nodeOf;
  DenseMap<Operation *, unsigned> nodeOfOp;
  SmallVector<Value> values;
};
} // namespace

unsigned Network::getNode(Operation *op) {
  if (!op || !costs.mayRecompute(op))
    return source;
  auto [it, isNew] = nodeOfOp.try_emplace(op);
  if (!isNew)
    return it->second;
  unsigned node = it->second = cut.addNode();
  cut.addEdge(source, node, {0, costs.getRecomputeTime(op)});
  forEachReadOperand(op, [&](Value operand) {
    cut.addEdge(getNode(operand), node, Cost::infinite());
  });
  return node;
}

void Network::addEdges(Value value) {
  cut.addEdge(getNode(value.getDefiningOp()), nodeOf.lookup(value),
              costs.getSaveCost(value));
}

LeastResiduals Network::solve() {
  // Each value's operation may bring in further values.
  for (unsigned next = 0; next < values.size(); ++next)
    addEdges(values[next]);
  LeastResiduals result;
  result.cost = cut.solve(source, sink);
  for (Value value : values)
    if (cut.isOnSinkSide(nodeOf.lookup(value)) &&
        !cut.isOnSinkSide(getNode(value.getDefiningOp())))
      result.saved.insert(value);
  return result;
}

LeastResiduals
fad::findLeastResiduals(ArrayRef<Value> read, CostModel &costs,
                        llvm::function_ref<Value(Value)> resolve) {
  Network network(costs, resolve);
  for (Value value : read)
    network.addRead(value);
  return network.solve();
}
