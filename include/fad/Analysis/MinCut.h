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
#include <cassert>
#include <cstdint>
#include <limits>
#include <tuple>

namespace mlir::fad {

/// What a choice costs: first the bytes that it keeps from forward to backward,
/// then, among choices of equal bytes, the time that it takes, in the unit of
/// the caller. Each tensor has fewer than 2^63 bytes, so 128 bits hold the sums
/// over a program, also where these are weighted. An infinite cost stays
/// infinite whatever is added to it, and whatever finite cost is subtracted.
struct Cost {
  __extension__ typedef __int128 Count;

  Count bytes = 0, time = 0;
  bool isInfinite = false;

  /// More than every sum of finite costs.
  static constexpr Cost infinite() { return {0, 0, true}; }

  Cost &operator+=(Cost other) {
    bytes += other.bytes;
    time += other.time;
    isInfinite |= other.isInfinite;
    return *this;
  }
  Cost &operator-=(Cost other) {
    assert(!other.isInfinite && "the difference would be undefined");
    bytes -= other.bytes;
    time -= other.time;
    return *this;
  }
  friend Cost operator+(Cost a, Cost b) { return a += b; }
  friend Cost operator-(Cost a, Cost b) { return a -= b; }
  friend bool operator<(Cost a, Cost b) {
    if (a.isInfinite || b.isInfinite)
      return !a.isInfinite;
    return std::tie(a.bytes, a.time) < std::tie(b.bytes, b.time);
  }
  friend bool operator==(Cost a, Cost b) { return !(a < b) && !(b < a); }
};

/// `count`, or the largest number of 64 bits where it is larger.
inline int64_t saturate(Cost::Count count) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  return count < largest ? int64_t(count) : largest;
}

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
  /// cost. Among cuts of least cost, the one with the fewest nodes on the side
  /// of the sink. Where every cut has an infinite edge, the cost is infinite,
  /// and the source is alone on its side. Dinic's algorithm (1970): time
  /// O(nodes^2 * edges) at worst. May be called once.
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
