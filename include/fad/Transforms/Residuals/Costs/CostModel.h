//===- CostModel.h - Costs of saving and recomputing ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_COSTS_COSTMODEL_H
#define FAD_TRANSFORMS_RESIDUALS_COSTS_COSTMODEL_H

#include "fad/Transforms/Residuals/Candidates/Encoding.h"
#include "fad/Transforms/Residuals/Costs/OperationTimes.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fad {
class Recomputation;

/// Whether `op` reduces tensors, and is no contraction.
bool isReduction(Operation *op);

/// The common work of elementwise operations that read the same tensors, such
/// as a value and its derivative: transcendental functions, computed once if
/// several of these operations are executed.
struct SharedWork {
  /// The first of the operations; null if they share nothing.
  Operation *leader = nullptr;
  /// The time of the shared work: the transcendental functions of the operation
  /// that has the fewest.
  Cost::Count time = 0;
};

/// The costs of saving a value and of computing it again in backward.
class CostModel {
public:
  /// The costs for a selection with `options`, at the level `level` of
  /// recomputation.
  CostModel(const Recomputation &recomputation, const SelectionOptions &options,
            RecomputeLevel level)
      : recomputation(&recomputation), level(level),
        times(getTargetTimes(options.target),
              [size = options.assumedSize](const SizeSymbols::Symbol &) {
                return uint64_t(size);
              }),
        encodings(options.derivativeBits), target(options.target),
        launchTime(options.launchTime) {}
  CostModel(const Recomputation &recomputation, const SelectionOptions &options)
      : CostModel(recomputation, options, options.recompute) {}

  /// Starts anew after a change of the function, whose recomputation is
  /// `changed`: the address of an erased value may be reused. What was found
  /// for a function of scalars stays.
  void restart(const Recomputation &changed) {
    recomputation = &changed;
    times.forgetValues();
    encodings.forgetValues();
    approximations.clear();
    kept.clear();
  }

  /// Declares operations that approximate other operations. These have
  /// precedence at equal bytes, whatever the time.
  void setApproximations(ArrayRef<Operation *> ops) {
    approximations = DenseSet<Operation *>(ops.begin(), ops.end());
  }
  bool isApproximation(Operation *op) const {
    return approximations.contains(op);
  }

  /// Declares values that backward may not compute again, at any level.
  void setKept(DenseSet<Value> values) { kept = std::move(values); }

  /// Bytes of `value`; `nullopt` if its type does not determine them.
  std::optional<int64_t> getBytes(Value value) { return times.getBytes(value); }
  /// The target whose times count.
  Target getTarget() const { return target; }
  /// The time of a byte on the link to the host.
  int64_t getLinkTime() const { return times.getTarget().link; }
  /// Elements of `tensor`; 0 if its type does not determine them.
  int64_t getElements(Value tensor) { return times.getElements(tensor); }

  /// The cost of saving `value`: its bytes, zero for live values; the time to
  /// read it in backward, and to write it if forward would not. A value whose
  /// type does not determine its size counts as huge.
  Cost getSaveCost(Value value);

  /// The encoding of `value` if it is saved: few bits, or none.
  std::optional<Encoding> findEncoding(Value value);

  /// Whether backward may repeat `op`.
  bool mayRecompute(Operation *op);
  /// The time to repeat `op`: for operations that fuse with their readers the
  /// arithmetic, for others also the memory traffic.
  Cost::Count getRecomputeTime(Operation *op);
  /// The time to launch a kernel.
  int64_t getLaunchTime() const { return launchTime; }
  /// The part of that time that `op` shares with others.
  SharedWork findSharedWork(Operation *op);

private:
  /// Whether repeating `op`, which is elementwise, takes less time than reading
  /// a result from memory.
  bool isCheap(Operation *op);

  const Recomputation *recomputation;
  RecomputeLevel level;
  OperationTimes times;
  Encodings encodings;
  Target target;
  int64_t launchTime;
  DenseSet<Operation *> approximations;
  DenseSet<Value> kept;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_COSTS_COSTMODEL_H
