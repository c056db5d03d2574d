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

/// Reverse mode over the block of a function and over the blocks of its `scf`
/// operations on tensors.
class ReverseMode {
public:
  ReverseMode(RewriterBase &rewriter, DerivativeForm form)
      : rewriter(rewriter), form(form), table(rewriter) {}

  /// Declares that `value` depends on a differentiated argument.
  void markVaried(Value value) { varied.insert(value); }
  /// Required before `value` is erased: its address may be reused.
  void forget(Value value) { varied.erase(value); }
  bool isVaried(Value value) const { return varied.contains(value); }
  /// Finds the values in `block` that depend on varied values.
  void findVaried(Block &block);
  /// Replaces each `scf.while` in `block` whose results are varied by one that
  /// counts its iterations and an `scf.for` that runs them, which has an
  /// adjoint. Fails, with an error, if a loop has side effects.
  LogicalResult boundLoops(Block &block);
  /// Fails, with an error at each, if operations in `block` have effects that
  /// depend on differentiated arguments.
  LogicalResult checkEffects(Block &block);
  /// Turns varied scalars that the bodies of structured operations in `block`
  /// capture into operands, because adjoints are computed for operands.
  void passScalars(Block &block);

  /// Emits the adjoints of the operations of `block` at its end. Fails, with an
  /// error at each, if operations have no adjoint. Stacking replaces a loop by
  /// another operation.
  LogicalResult differentiate(Block &block);

  /// The cotangents as seen from the block of the adjoints.
  CotangentTable &getTable() { return table; }
  RewriterBase &getRewriter() { return rewriter; }

  //===--------------------------------------------------------------------===//
  // For adjoints of operations with regions
  //===--------------------------------------------------------------------===//

  /// Clones the operations of `from`, without its terminator, at the insertion
  /// point, for differentiation. `mapping` maps the arguments of `from`; every
  /// cloned value is added to it. Operations with side effects and no results
  /// are left out: they have happened.
  void clonePrimal(Block &from, IRMapping &mapping);
  /// The varied values with cotangents that `regions` capture.
  llvm::SetVector<Value> findCaptured(ArrayRef<Region *> regions);
  /// Calls `build` with an empty table, for adjoints that go to a region.
  LogicalResult withNewTable(llvm::function_ref<LogicalResult()> build);
  /// Erases the dead operations of `block`, a block of adjoints.
  void eraseDead(Block &block);
  /// Erases `op`, and forgets its values.
  void erase(Operation *op);
  /// Fails if `op`, whose region backward executes again, has side effects.
  LogicalResult checkRepeatable(Operation *op);
  /// Moves the sizes that `op` takes of captured tensors before it.
  void hoistSizes(Operation *op);

private:
  void findVaried(Operation *op);
  void findVaried(RegionBranchOpInterface op);
  /// Replaces `op` by a loop of known length, which it returns.
  FailureOr<Operation *> boundLoop(scf::WhileOp op);
  /// Whether `op` has an effect that depends on differentiated arguments.
  bool hasEffectOnPath(Operation *op);
  LogicalResult checkEffects(Operation *op);
  /// Fails if the body of `op` captures a value with a gradient.
  LogicalResult checkCaptures(Operation *op);
  /// Fails if `op` reads a varied value that has no cotangent.
  LogicalResult checkOperands(Operation *op);
  LogicalResult visit(Operation *op, Block &block);
  /// Emits the adjoint of `op`.
  LogicalResult addAdjointOf(Operation *op, ValueRange cotangents);
  FailureOr<Cotangents> buildAdjointOf(AdjointBuilder &adjoint, Operation *op,
                                       ValueRange cotangents);
  /// Gives a cotangent to each varied operand of `op`, so that the operations
  /// that compute it are visited too.
  void addPlaceholders(Operation *op);

  RewriterBase &rewriter;
  DerivativeForm form;
  DenseSet<Value> varied;
  CotangentTable table;
};

/// Whether `op` is control flow that has an adjoint.
inline bool isControlFlow(Operation *op) {
  return isa<scf::IfOp, scf::IndexSwitchOp, scf::ForOp, scf::WhileOp>(op);
}

/// Emits the adjoint of `op`, an `scf.if` or `scf.index_switch`: the same
/// conditional, which executes the taken branch again and then computes the
/// cotangents of captured values.
LogicalResult addConditionalAdjoint(ReverseMode &mode, Operation *op,
                                    ValueRange cotangents);

/// Emits the adjoint of `op`: a loop that runs backwards, executes each
/// iteration again from the initial values that the primal loop stacks, and
/// then computes the cotangents.
LogicalResult addAdjoint(ReverseMode &mode, scf::ForOp op,
                         ValueRange cotangents);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_REVERSEMODE_H
