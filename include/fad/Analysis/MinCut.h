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

/// The cost of a selection: the bytes that it keeps from forward to backward
/// and, to compare selections of equal bytes, its time, in the caller's unit.
/// Each tensor has fewer than 2^63 bytes, so 128 bits hold weighted sums over a
/// program. An infinite cost plus or minus a finite one stays infinite.
struct Cost {
  __extension__ typedef __int128 Count;

  Count bytes = 0, time = 0;
  bool isInfinite = false;

  /// Larger than every sum of finite costs.
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

/// `count`, at most the largest number of 64 bits.
inline int64_t saturate(Cost::Count count) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  return count < largest ? int64_t(count) : largest;
}

/// A directed network with capacities, and its minimum cut. Maximum flow and
/// minimum cut only add, subtract and compare, so pairs of numbers in
/// lexicographic order are capacities, too.
class MinCut {
public:
  /// Adds a node, and returns its number: 0, 1, ...
  unsigned addNode();
  unsigned getNumNodes() const { return edgesOf.size(); }

  /// Adds an edge. A cut pays `capacity`, which is not negative, if `from` is
  /// on the side of the source and `to` on that of the sink.
  void addEdge(unsigned from, unsigned to, Cost capacity);

  /// Finds a minimum cut between `source` and `sink`, and returns its cost.
  /// Among the minimum cuts, this is the one with the fewest nodes on the side
  /// of the sink. If every cut has an infinite edge, the cost is infinite, and
  /// the source is alone on its side. Dinic's algorithm (1970), in time
  /// O(nodes^2 * edges). May be called once.
  Cost solve(unsigned source, unsigned sink);

  /// After `solve`: whether `node` is on the side of the sink.
  bool isOnSinkSide(unsigned node) const { return sinkSide[node]; }

private:
  struct Edge {
    unsigned to;
    /// The residual capacity of the edge.
    Cost residual;
  };
  bool canCarry(unsigned edge) const { return Cost() < edges[edge].residual; }
  /// Finds each node's distance to the sink. False where the source has none.
  bool findDistances(unsigned source, unsigned sink);
  /// Sends flow along one shortest path; returns its amount, zero if no path is
  /// left.
  Cost augment(unsigned source, unsigned sink);

  /// Edges 2k and 2k+1 are each other's reverse.
  llvm::SmallVector<Edge> edges;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>> edgesOf;
  llvm::SmallVector<unsigned> distance, next;
  llvm::SmallVector<bool> sinkSide;
};

} // namespace mlir::fad

#endif // FAD_ANALYSIS_MINCUT_H
