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

namespace mlir {
namespace fad {

/// Reverse mode over the block of a function and over the blocks of its
/// operations with regions of tensors.
class ReverseMode : public AdjointBuilder, RewriterBase::Listener {
public:
  ReverseMode(RewriterBase &rewriter, DerivativeForm form)
      : AdjointBuilder(rewriter, form), table(rewriter) {
    rewriter.setListener(this);
  }

  /// Declares that `value` depends on a differentiated argument.
  void markVaried(Value value) { varied.insert(value); }
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

  bool isVaried(Value value) const override { return varied.contains(value); }
  void addCotangent(Value value, Value cotangent) override {
    table.add(value, cotangent);
  }
  void addSliceCotangent(tensor::ExtractSliceOp slice,
                         Value cotangent) override {
    table.addSlice(slice, cotangent);
  }
  void addElementCotangent(tensor::ExtractOp element,
                           Value cotangent) override {
    table.addElement(element, cotangent);
  }
  bool hasCotangent(Value value) const override {
    return table.contains(value);
  }
  Value takeCotangent(Value value) override { return table.take(value); }
  llvm::SetVector<Value> findCaptured(MutableArrayRef<Region> regions) override;
  LogicalResult differentiateBlock(Block &from, IRMapping &mapping,
                                   ValueRange cotangents,
                                   llvm::function_ref<void()> finish) override;

private:
  // The address of an erased value may be reused.
  void notifyOperationErased(Operation *op) override;
  void notifyBlockErased(Block *block) override;

  void findVaried(Operation *op);
  void findVaried(RegionBranchOpInterface op);
  /// Replaces `op` by a loop of known length, which it returns, or by its
  /// initial values where it has no iteration; then returns the next operation.
  FailureOr<Operation *> boundLoop(scf::WhileOp op);
  /// Whether `op` has an effect that depends on differentiated arguments.
  bool hasEffectOnPath(Operation *op);
  LogicalResult checkEffects(Operation *op);
  /// Fails if `op` reads a varied value that has no cotangent.
  LogicalResult checkOperands(Operation *op);
  /// Clones the operations of `from`, without its terminator, at the insertion
  /// point, to be differentiated there.
  void clonePrimal(Block &from, IRMapping &mapping);
  LogicalResult visit(Operation *op, Block &block);
  /// Emits the adjoint of `op`.
  LogicalResult addAdjointOf(Operation *op, ValueRange cotangents);
  /// Completes the adjoint of `name`, the operations after `start`.
  void finishAdjoint(Operation *start, StringAttr name);
  /// Moves the sizes that `op` takes of captured tensors before it.
  void hoistSizes(Operation *op);
  /// Gives a cotangent to each varied operand of `op`, so that the operations
  /// that compute it are visited too.
  void addPlaceholders(Operation *op);

  DenseSet<Value> varied;
  /// The cotangents as seen from the block of the adjoints.
  CotangentTable table;
};

/// Whether `op` is control flow that has an adjoint, or is replaced by control
/// flow that has one.
inline bool isControlFlow(Operation *op) {
  return isa<RegionBranchOpInterface>(op) &&
         isa<AdjointOpInterface, scf::WhileOp>(op);
}

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_REVERSEMODE_H
