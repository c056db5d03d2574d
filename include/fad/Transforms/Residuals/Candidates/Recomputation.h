//===- Recomputation.h - Operations that backward repeats -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_CANDIDATES_RECOMPUTATION_H
#define FAD_TRANSFORMS_RESIDUALS_CANDIDATES_RECOMPUTATION_H

#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir::fad {

/// Calls `callback` on each operand of `op` whose data `op` reads. Queries of
/// sizes read no data, and destinations are overwritten.
void forEachReadOperand(Operation *op,
                        llvm::function_ref<void(Value)> callback);

/// Whether `operand` is a destination that its operation does not read.
bool isOverwritten(OpOperand &operand);

/// Whether `op` holds no data of its own: a constant, a shape, a splat, or a
/// view of its operand.
bool isView(Operation *op);

/// Whether `op` looks a level up by its number, which reads a residual of few
/// bits.
bool isLookup(Operation *op);

/// Whether `op` stands between two checkpoints: it reads a result of one, or a
/// view of that, and the other reads its result. If such operations were
/// repeated, backward would repeat each checkpoint for the next one, and have
/// all of them in memory at once.
bool isBetweenCheckpoints(Operation *op);

/// Whether `map` has every loop that, by `ranges`, runs more than once.
bool mentionsAllLoops(AffineMap map, ArrayRef<int64_t> ranges);

/// The operations of a joint function that backward repeats under every policy,
/// because they hold no data of their own: keeping their results would only
/// cost memory.
class Recomputation {
public:
  explicit Recomputation(const JointFunction &joint);

  bool contains(Operation *op) const { return ops.contains(op); }
  /// Whether `value` is an argument or a result of the function.
  bool isKept(Value value) const {
    return !value.getDefiningOp() || results.contains(value);
  }
  /// Whether `value` is live in backward under every policy: an argument or a
  /// result of the function, or computed again from live values.
  bool isAlive(Value value) const;

private:
  /// Whether `op` computes its elements from their positions and scalars alone,
  /// such as a mask that is drawn from a seed.
  bool isGenerated(Operation *op) const;
  /// Whether `op` only selects or joins elements of live tensors.
  bool isSelection(Operation *op) const;

  DenseSet<Operation *> ops;
  /// The generated ones among them.
  DenseSet<Operation *> generated;
  DenseSet<Value> results, alive;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_CANDIDATES_RECOMPUTATION_H
