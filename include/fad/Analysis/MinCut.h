//===- MinCut.h - Minimum cuts of flow networks -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_MINCUT_H
#define FAD_ANALYSIS_MINCUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <tuple>

namespace mlir::fad {

/// What a choice costs: first the bytes that it keeps from forward to backward,
/// then, among choices of equal bytes, the time that it takes, in the unit of
/// the caller. Sums are exact below `infinite()`.
struct Cost {
  int64_t bytes = 0, time = 0;

  /// More than any sum of finite costs; never chosen.
  static constexpr Cost infinite() { return {int64_t(1) << 58, 0}; }
  bool isInfinite() const { return bytes >= infinite().bytes / 2; }

  Cost &operator+=(Cost other) {
    bytes += other.bytes;
    time += other.time;
    return *this;
  }
  Cost &operator-=(Cost other) {
    bytes -= other.bytes;
    time -= other.time;
    return *this;
  }
  friend Cost operator+(Cost a, Cost b) { return a += b; }
  friend Cost operator-(Cost a, Cost b) { return a -= b; }
  friend bool operator<(Cost a, Cost b) {
    return std::tie(a.bytes, a.time) < std::tie(b.bytes, b.time);
  }
  friend bool operator==(Cost a, Cost b) {
    return std::tie(a.bytes, a.time) == std::tie(b.bytes, b.time);
  }
};

/// A directed network with capacities, and its minimum cut. Pairs of numbers in
/// lexicographic order are capacities as good as numbers are: maximum flow and
/// minimum cut only add, subtract and compare.
class MinCut {
public:
  /// Adds a node, and returns its number: 0, 1, ...
  unsigned addNode();
  unsigned getNumNodes() const { return edgesOf.size(); }

  /// Adds an edge. A cut pays `capacity`, which is not negative, where `from`
  /// is on the side of the source and `to` on that of the sink.
  void addEdge(unsigned from, unsigned to, Cost capacity);

  /// Finds a cut of least cost between `source` and `sink`, and returns its
  /// cost, which is infinite if every cut has an infinite edge. Among cuts of
  /// least cost, the one with the fewest nodes on the side of the sink. Dinic's
  /// algorithm (1970): time O(nodes^2 * edges) at worst. May be called once.
  Cost solve(unsigned source, unsigned sink);

  /// After `solve`: whether `node` is on the side of the sink.
  bool isOnSinkSide(unsigned node) const { return sinkSide[node]; }

private:
  struct Edge {
    unsigned to;
    /// What more the edge can carry.
    Cost residual;
  };
  bool canCarry(unsigned edge) const { return Cost() < edges[edge].residual; }
  /// Finds each node's distance to the sink. False where the source has none.
  bool findDistances(unsigned source, unsigned sink);
  /// Sends flow along one shortest path; returns how much, zero if there is
  /// none left.
  Cost augment(unsigned source, unsigned sink);

  /// Edges 2k and 2k+1 are each other's reverse.
  llvm::SmallVector<Edge> edges;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>> edgesOf;
  llvm::SmallVector<unsigned> distance, next;
  llvm::SmallVector<bool> sinkSide;
};

} // namespace mlir::fad

#endif // FAD_ANALYSIS_MINCUT_H
