//===- MinCutSelection.h - Residuals of least cost --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_MINCUTSELECTION_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_MINCUTSELECTION_H

#include "fad/Analysis/MinCut.h"
#include "fad/Transforms/Residuals/Decider.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::fad {
class CostModel;
struct SharedWork;

/// A set of saved values from which backward can compute all others that it
/// reads, and its cost. Those in `onHost` wait on the host; none does yet,
/// since nothing moves them there.
struct Selection {
  llvm::DenseSet<Value> saved, onHost = {};
  Cost cost;
  CutSize size;
};

/// The objective of a selection: weighted bytes and time, and among equals the
/// fewest bytes or, if only bytes have a weight, the least time. Weights are at
/// most 2^24: bytes and times of whole programs are below 2^100.
struct Objective {
  Cost::Count bytes = 1, time = 0;
};

/// The selections of residuals that make the values `read` available in
/// backward, as cuts between values that only forward has and values that
/// backward has. A repeated operation needs all of its operands.
///
/// Each value is a node, and so is each operation that may be repeated. A node
/// is on the side of the sink if backward has the value, or executes the
/// operation. The edges, with the meaning of cutting them:
///
///     source -> operation   execute it again in backward: its time
///     operand -> operation  impossible: it needs its operands
///     source -> shared      execute the shared work: its time
///     shared -> operation   impossible: the operation needs that work
///     operation -> result   save the result: its bytes
///     source -> value       save a value that no operation may compute again
///     value -> sink         impossible: backward reads it
class ResidualNetwork {
public:
  /// `resolve` maps a value to the one that represents it.
  ResidualNetwork(
      ArrayRef<Value> read, CostModel &costs,
      llvm::function_ref<Value(Value)> resolve = [](Value value) {
        return value;
      });

  /// A cut, with its cost in bytes and in time.
  struct Cut {
    llvm::BitVector sinkSide;
    Cost cost;
  };

  /// The minimum cut.
  Cut solve(Objective objective = {}) const;
  /// Mixes `cut`, of no more than `budget` bytes, with `other`: each connected
  /// component of their difference is taken from `other` if it fits into the
  /// budget and takes less time.
  Cut mix(Cut cut, const Cut &other, int64_t budget) const;
  /// Cuts between `small` and `fast`, which takes more bytes and less time: the
  /// connected components of their difference change over, those that save the
  /// most time a byte first, in up to `steps` groups. Among equals, values that
  /// backward reads early come first.
  std::vector<Cut> interpolate(const Cut &small, const Cut &fast,
                               unsigned steps) const;
  /// Cuts that are `cut` but for some connected components of its difference to
  /// `other`, each of at most `bytes`, which take fewer bytes there, or with
  /// `isFaster` less time: one alone for up to `most`, those first that gain
  /// the most for what they cost, and then more and more of those of these that
  /// `helps` is true of, as long as they have at most `bytes` together.
  std::vector<Cut> exchange(const Cut &cut, const Cut &other, bool isFaster,
                            int64_t bytes, unsigned most,
                            llvm::function_ref<bool(const Cut &)> helps) const;
  /// The cut that saves those of `wanted` which backward needs, and what it may
  /// not compute again.
  Cut getCut(const llvm::DenseSet<Value> &wanted) const;
  /// The cut that saves none of the values which `cut` saves and which backward
  /// can compute from the others.
  Cut dropComputable(const Cut &cut) const;
  /// Cuts from `fast` towards `small`, which takes fewer bytes: the connected
  /// components of their difference change over, alike ones at a time, or
  /// `isAlone` as few as there is time for, those first that add the least of
  /// `getTime` for a byte.
  std::vector<Cut>
  descend(const Cut &fast, const Cut &small,
          llvm::function_ref<Cost::Count(const Selection &)> getTime,
          bool isAlone = false) const;
  /// The values that `cut` saves.
  Selection getResiduals(const Cut &cut) const;

private:
  struct Edge {
    unsigned from, to;
    Cost cost;
  };
  /// The connected components of the difference of two cuts. No edge joins two
  /// components, so their gains add up, but for the time to read values that
  /// are given, which is part of a component only if no other one reads them.
  struct Difference {
    /// The nodes that differ, and the component of each node.
    llvm::BitVector nodes;
    llvm::IntEqClasses parts;
    /// The cost of each component's change from the first cut to the second.
    std::vector<Cost> gains;
  };
  Difference findDifference(const Cut &from, const Cut &to) const;
  /// `cut` with the `parts` of `difference` as they are in `other`.
  Cut takeParts(Cut cut, const Cut &other, const Difference &difference,
                ArrayRef<unsigned> parts) const;
  /// The components of `difference` that save bytes, by what they are: every
  /// second one of alike components is one group, the others another.
  std::vector<SmallVector<unsigned>>
  groupAlike(const Difference &difference) const;
  /// Those components in their order, of few or one in each group.
  std::vector<SmallVector<unsigned>>
  groupAlone(const Difference &difference) const;
  /// The node of `value`; a new node has no edges yet.
  unsigned getNode(Value value);
  /// The node of `op`, or the source if backward cannot execute it.
  unsigned getNode(Operation *op);
  /// The node of the work that operations share.
  unsigned getSharedNode(const SharedWork &shared);
  void addEdge(unsigned from, unsigned to, Cost cost) {
    edges.push_back({from, to, cost});
  }
  Cost getCost(const llvm::BitVector &sinkSide) const;

  static constexpr unsigned source = 0, sink = 1;
  CostModel &costs;
  llvm::function_ref<Value(Value)> resolve;
  unsigned numNodes = 2;
  /// The values that backward has, and that no operation of it computes.
  llvm::BitVector isGiven;
  std::vector<Edge> edges;
  llvm::DenseMap<Value, unsigned> nodeOf;
  llvm::DenseMap<Operation *, unsigned> nodeOfOp, nodeOfShared;
  SmallVector<Value> values;
};

/// The selection of fewest bytes, then of least time.
Selection selectFewestBytes(
    ArrayRef<Value> read, CostModel &costs,
    llvm::function_ref<Value(Value)> resolve = [](Value value) {
      return value;
    });

/// The Pareto front of selections between the least time and the fewest bytes,
/// in the order of falling bytes and growing time. Each is optimal for some
/// weight of bytes against time, so no selection has less of both than a
/// mixture of two neighbors. There are at most 33, and fewer than `steps`
/// mixtures between any two.
std::vector<Selection> findParetoFront(ArrayRef<Value> read, CostModel &costs,
                                       unsigned steps = 0);

/// A selection of little time within `budget` bytes: the fastest one on the
/// Pareto front that fits, improved by those parts of the next one that fit as
/// well. If none fits, the selection of fewest bytes.
Selection findWithinBudget(ArrayRef<Value> read, CostModel &costs,
                           int64_t budget);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_MINCUTSELECTION_H
