//===- MinCut.cpp - Minimum cuts of flow networks -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/MinCut.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir::fad;

static constexpr unsigned kUnreached = std::numeric_limits<unsigned>::max();

unsigned MinCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinCut::addEdge(unsigned from, unsigned to, Cost capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, Cost()});
}

bool MinCut::findDistances(unsigned source, unsigned sink) {
  distance.assign(getNumNodes(), kUnreached);
  distance[sink] = 0;
  llvm::SmallVector<unsigned> queue = {sink};
  for (unsigned head = 0; head < queue.size(); ++head) {
    unsigned node = queue[head];
    for (unsigned edge : edgesOf[node]) {
      unsigned from = edges[edge].to;
      if (distance[from] != kUnreached || !canCarry(edge ^ 1))
        continue;
      distance[from] = distance[node] + 1;
      queue.push_back(from);
    }
  }
  return distance[source] != kUnreached;
}

Cost MinCut::augment(unsigned source, unsigned sink) {
  // Depth first, without recursion: programs are deep.
  llvm::SmallVector<unsigned> path;
  unsigned node = source;
  while (node != sink) {
    unsigned &position = next[node];
    while (position < edgesOf[node].size()) {
      unsigned edge = edgesOf[node][position];
      if (canCarry(edge) && distance[edges[edge].to] + 1 == distance[node])
        break;
      ++position;
    }
    if (position < edgesOf[node].size()) {
      path.push_back(edgesOf[node][position]);
      node = edges[path.back()].to;
    } else if (path.empty()) {
      return Cost();
    } else {
      // A dead end: its predecessor tries its next edge.
      node = edges[path.pop_back_val() ^ 1].to;
      ++next[node];
    }
  }
  Cost flow = edges[path.front()].residual;
  for (unsigned edge : path)
    flow = std::min(flow, edges[edge].residual);
  if (flow.isInfinite)
    return flow;
  for (unsigned edge : path) {
    edges[edge].residual -= flow;
    edges[edge ^ 1].residual += flow;
  }
  return flow;
}

Cost MinCut::solve(unsigned source, unsigned sink) {
  Cost total;
  while (!total.isInfinite && findDistances(source, sink)) {
    next.assign(getNumNodes(), 0);
    // A path of infinite edges carries any flow, so the search ends.
    for (Cost flow = augment(source, sink); !total.isInfinite && Cost() < flow;
         flow = augment(source, sink))
      total += flow;
  }
  sinkSide.assign(getNumNodes(), total.isInfinite);
  sinkSide[source] = false;
  if (total.isInfinite)
    return total;
  for (auto [side, length] : llvm::zip_equal(sinkSide, distance))
    side = length != kUnreached;
  return total;
}
