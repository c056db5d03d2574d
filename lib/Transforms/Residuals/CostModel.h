//===- CostModel.h - What saving and recomputing cost -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_COSTMODEL_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_COSTMODEL_H

#include "Encoding.h"
#include "fad/Analysis/MinCut.h"
#include "fad/Analysis/SizeExpr.h"
#include "fad/Analysis/TargetTimes.h"
#include "fad/IR/Fad.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fad {
class Recomputation;

/// What elementwise operations that read the same tensors have in common, a
/// value and its derivative: transcendental functions, computed once where
/// several of these operations are executed.
struct SharedWork {
  /// The first of the operations; null where nothing is shared.
  Operation *leader = nullptr;
  /// The time of what is shared: the transcendental functions of the operation
  /// that has the fewest.
  Cost::Count time = 0;
};

/// What it costs to save a value, or to compute it again in backward.
class CostModel {
public:
  /// `assumedSize` stands in for a size that is known only at run time;
  /// `derivativeBits` is what a bounded derivative may be rounded to, or 0.
  CostModel(const Recomputation &recomputation, RecomputeLevel level,
            int64_t assumedSize, int64_t derivativeBits = 0,
            const TargetTimes &times = kCPUTimes)
      : recomputation(&recomputation), level(level), assumedSize(assumedSize),
        times(times), encodings(derivativeBits) {}

  /// Goes on with what is known after the function has changed.
  void setRecomputation(const Recomputation &changed) {
    recomputation = &changed;
  }

  /// Operations that compute what others compute exactly: these go before them
  /// wherever as few bytes do, whatever the time.
  void setApproximations(ArrayRef<Operation *> ops) {
    approximations = DenseSet<Operation *>(ops.begin(), ops.end());
  }
  bool isApproximation(Operation *op) const {
    return approximations.contains(op);
  }

  /// Saving `value`: its bytes, none where it is alive anyway; the time to read
  /// it in backward, and to write it where forward would not. A value whose
  /// type does not say how large it is counts as huge.
  Cost getSaveCost(Value value);

  /// How `value` is kept where it is saved: in few bits, or as it is.
  std::optional<Encoding> findEncoding(Value value);

  /// Whether backward may compute `op` again.
  bool mayRecompute(Operation *op);
  /// The time that it takes: for what fuses with its readers the arithmetic,
  /// for the rest also what is read and written.
  Cost::Count getRecomputeTime(Operation *op);
  /// What of that time `op` shares with others.
  SharedWork findSharedWork(Operation *op);

private:
  /// Bytes of `value`; `nullopt` where its type does not say.
  std::optional<int64_t> getBytes(Value value);
  int64_t getElements(Value tensor);
  /// Whether it takes less time to execute `op`, which is elementwise, again
  /// than to read a result from memory.
  bool isCheap(Operation *op);

  const Recomputation *recomputation;
  RecomputeLevel level;
  int64_t assumedSize;
  TargetTimes times;
  Encodings encodings;
  DenseSet<Operation *> approximations;
  SizeSymbols symbols;
  llvm::DenseMap<Value, std::optional<int64_t>> bytesOf;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_COSTMODEL_H
