//===- MinCutSelection.h - Residuals of least cost --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_MINCUTSELECTION_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_MINCUTSELECTION_H

#include "fad/Analysis/MinCut.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fad {
class CostModel;
struct SharedWork;

/// Which values of the forward part are saved, so that backward can compute
/// all others that it reads, and what that costs.
struct Selection {
  llvm::DenseSet<Value> saved;
  Cost cost;
};

/// What a choice of residuals minimizes: bytes and time, weighted, and among
/// equals the fewest bytes or, where only bytes have a weight, the least time.
/// Weights are at most 2^24: bytes and times of whole programs are below 2^100.
struct Objective {
  Cost::Count bytes = 1, time = 0;
};

/// The choices of residuals that make the values `read` available in backward,
/// as cuts between what only forward has and what backward has. What is
/// computed again needs all that its operation reads.
///
/// Each value is a node, and each operation that may be computed again is one.
/// A node is on the side of the sink where backward has the value, or executes
/// the operation. The edges, with what cutting them means:
///
///     source -> operation   execute it again in backward: its time
///     operand -> operation  impossible: it needs its operands
///     source -> shared      execute what operations share: its time
///     shared -> operation   impossible: the operation needs that
///     operation -> result   save the result: its bytes
///     source -> value       the same, where nothing computes it again
///     value -> sink         impossible: backward reads it
class ResidualNetwork {
public:
  /// `resolve` says which value stands for another one.
  ResidualNetwork(
      ArrayRef<Value> read, CostModel &costs,
      llvm::function_ref<Value(Value)> resolve = [](Value value) {
        return value;
      });

  /// A cut, and what it costs in bytes and in time.
  struct Cut {
    llvm::BitVector sinkSide;
    Cost cost;
  };

  /// The minimum cut.
  Cut solve(Objective objective = {}) const;
  /// Of `cut` and what `other` differs from it by, a cut of no more than
  /// `budget` bytes, as `cut` has: each part of the difference that does not
  /// hang together with others is taken over if it fits and takes less time.
  Cut mix(Cut cut, const Cut &other, int64_t budget) const;
  /// The values that `cut` saves.
  Selection getResiduals(const Cut &cut) const;

private:
  struct Edge {
    unsigned from, to;
    Cost cost;
  };
  /// The node of `value`; new ones wait for their edges.
  unsigned getNode(Value value);
  /// The node of `op`, or the source where backward cannot execute it.
  unsigned getNode(Operation *op);
  /// The node of what operations share.
  unsigned getSharedNode(const SharedWork &shared);
  void addEdge(unsigned from, unsigned to, Cost cost) {
    edges.push_back({from, to, cost});
  }
  Cost getCost(const llvm::BitVector &sinkSide) const;

  static constexpr unsigned source = 0, sink = 1;
  CostModel &costs;
  llvm::function_ref<Value(Value)> resolve;
  unsigned numNodes = 2;
  std::vector<Edge> edges;
  llvm::DenseMap<Value, unsigned> nodeOf;
  llvm::DenseMap<Operation *, unsigned> nodeOfOp, nodeOfShared;
  SmallVector<Value> values;
};

/// The choice of fewest bytes, then of least time.
Selection selectFewestBytes(
    ArrayRef<Value> read, CostModel &costs,
    llvm::function_ref<Value(Value)> resolve = [](Value value) {
      return value;
    });

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_MINCUTSELECTION_H
