//===- ReverseMode.h - Reverse mode over blocks -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_REVERSEMODE_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_REVERSEMODE_H

#include "CotangentTable.h"
#include "fad/Transforms/Differentiate/Adjoint.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir {
class IRMapping;

namespace fad {

/// Reverse mode over the block of a function and, where `scf` operations on
/// tensors are differentiated, over the blocks in it.
class ReverseMode {
public:
  ReverseMode(RewriterBase &rewriter, DerivativeForm form)
      : rewriter(rewriter), form(form), table(rewriter) {}

  /// Says that `value` depends on what is differentiated.
  void markVaried(Value value) { varied.insert(value); }
  /// To be said of a value that is about to be erased: another one may come to
  /// lie where it is.
  void forget(Value value) { varied.erase(value); }
  bool isVaried(Value value) const { return varied.contains(value); }
  /// Finds the values in `block` that depend on those that are marked.
  void findVaried(Block &block);
  /// Replaces each `scf.while` in `block` whose results depend on what is
  /// differentiated by one that counts its iterations and an `scf.for` that runs
  /// them, for which there is an adjoint. Fails, with an error, where one has
  /// side effects.
  LogicalResult boundLoops(Block &block);
  /// Fails, with an error at each, where operations in `block` have effects
  /// that depend on what is differentiated.
  LogicalResult checkEffects(Block &block);
  /// Makes scalars that the bodies of structured operations in `block` capture
  /// operands, where they are varied: adjoints are for operands.
  void passScalars(Block &block);

  /// Emits the adjoints of the operations of `block` at its end. Fails, with an
  /// error at each, where operations cannot be differentiated. A loop that is
  /// stacked is another operation afterwards.
  LogicalResult differentiate(Block &block);

  /// The cotangents as seen from the block that adjoints go to.
  CotangentTable &getTable() { return table; }
  RewriterBase &getRewriter() { return rewriter; }

  //===--------------------------------------------------------------------===//
  // For adjoints of operations with regions
  //===--------------------------------------------------------------------===//

  /// Clones the operations of `from`, without its terminator, at the insertion
  /// point, to be differentiated there: `mapping` maps what `from` reads of its
  /// own arguments, and comes back with every value. What has no results but
  /// side effects is left out: it has happened.
  void clonePrimal(Block &from, IRMapping &mapping);
  /// The values from outside of `regions` that they read, that are varied, and
  /// that have cotangents.
  llvm::SetVector<Value> findCaptured(ArrayRef<Region *> regions);
  /// Calls `build` with an empty table, for adjoints that go to a region.
  LogicalResult withNewTable(llvm::function_ref<LogicalResult()> build);
  /// Erases what nothing reads in `block`, a block of adjoints.
  void eraseDead(Block &block);
  /// Erases `op`, and forgets the values in it.
  void erase(Operation *op);
  /// Fails where `op`, whose region backward computes again, has side effects.
  LogicalResult checkRepeatable(Operation *op);
  /// Moves the sizes that `op` takes of tensors from outside before it.
  void hoistSizes(Operation *op);

private:
  void findVaried(Operation *op);
  void findVaried(RegionBranchOpInterface op);
  /// Replaces `op` by a loop of known length, which it returns.
  FailureOr<Operation *> boundLoop(scf::WhileOp op);
  /// Whether `op` has an effect that depends on what is differentiated.
  bool hasEffectOnPath(Operation *op);
  LogicalResult checkEffects(Operation *op);
  /// Fails where the body of `op` reads, other than through an operand of
  /// `op`, a value that has a gradient.
  LogicalResult checkCaptures(Operation *op);
  /// Fails where `op` reads a varied value that has no cotangent.
  LogicalResult checkOperands(Operation *op);
  LogicalResult visit(Operation *op, Block &block);
  /// Emits the adjoint of `op`.
  LogicalResult addAdjointOf(Operation *op, ValueRange cotangents);
  FailureOr<Cotangents> buildAdjointOf(AdjointBuilder &adjoint, Operation *op,
                                       ValueRange cotangents);
  /// Gives each varied value that `op` reads some cotangent, so that what
  /// computes it is looked at too.
  void addPlaceholders(Operation *op);

  RewriterBase &rewriter;
  DerivativeForm form;
  DenseSet<Value> varied;
  CotangentTable table;
};

/// Whether `op` is control flow that can be differentiated.
inline bool isControlFlow(Operation *op) {
  return isa<scf::IfOp, scf::IndexSwitchOp, scf::ForOp, scf::WhileOp>(op);
}

/// Emits the adjoint of `op`, an `scf.if` or `scf.index_switch`: the same
/// conditional, which computes the branch taken again and then the cotangents of
/// what it captures.
LogicalResult addConditionalAdjoint(ReverseMode &mode, Operation *op,
                                    ValueRange cotangents);

/// Emits the adjoint of `op`: a loop that runs backwards, computes each
/// iteration again from the values that the iterations begin with, which the
/// primal loop stacks, and then the cotangents.
LogicalResult addAdjoint(ReverseMode &mode, scf::ForOp op,
                         ValueRange cotangents);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_REVERSEMODE_H
