//===- AdjointOpInterface.h - Adjoints of operations ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_ADJOINTOPINTERFACE_H
#define FAD_INTERFACES_ADJOINTOPINTERFACE_H

#include "fad/Interfaces/DerivativeForm.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace mlir {
class IRMapping;

namespace fad {

/// Reverse mode, as the adjoint of one operation sees it.
class AdjointBuilder {
public:
  AdjointBuilder(RewriterBase &rewriter, DerivativeForm form)
      : rewriter(rewriter), form(form) {}
  virtual ~AdjointBuilder() = default;

  /// Adjoints are emitted at its insertion point, the end of a block. A model
  /// leaves it there.
  RewriterBase &rewriter;
  const DerivativeForm form;

  /// Whether derivatives are written in terms of results, if a rule has that
  /// form.
  bool prefersResults() const { return form == DerivativeForm::results; }
  /// Whether `value` depends on an argument that is differentiated. The
  /// cotangents of other values are not wanted.
  virtual bool isVaried(Value value) const = 0;

  /// Adds `cotangent`, of the same type, to that of `value`: an operand, or a
  /// value from outside that a region reads.
  virtual void addCotangent(Value value, Value cotangent) = 0;
  /// The same for several values; null is a cotangent of zero.
  void addCotangents(ValueRange values, ArrayRef<Value> cotangents);
  /// Adds `cotangent` to that of the elements of its source that `slice` reads.
  virtual void addSliceCotangent(tensor::ExtractSliceOp slice,
                                 Value cotangent) = 0;
  /// Adds `cotangent` to that of the element that `element` reads.
  virtual void addElementCotangent(tensor::ExtractOp element,
                                   Value cotangent) = 0;

  /// Fails, with an error, if the regions of `op` read elements of a varied
  /// value from outside. Reads that `isCovered` returns true for are allowed:
  /// the adjoint takes account of them.
  LogicalResult
  checkCaptures(Operation *op,
                llvm::function_ref<bool(OpOperand &)> isCovered = nullptr);

  //===--------------------------------------------------------------------===//
  // Adjoints of operations with regions
  //===--------------------------------------------------------------------===//

  /// The values from outside of `regions` that they read, that are varied, and
  /// that have cotangents.
  virtual llvm::SetVector<Value>
  findCaptured(MutableArrayRef<Region> regions) = 0;
  /// Emits, at the insertion point, the operations of `from` and then their
  /// adjoint. `mapping` maps the arguments of `from` to their replacements, and
  /// comes back with every value. `cotangents` has one for each operand of the
  /// terminator, null if that is zero. Operations without results are left out:
  /// their side effects have happened.
  ///
  /// `finish` is called at the end of the block: there, `takeCotangent` gives
  /// what the block adds to the cotangent of a value from outside or of a
  /// replacement. Fails, with errors, if an operation cannot be differentiated.
  virtual LogicalResult
  differentiateBlock(Block &from, IRMapping &mapping, ValueRange cotangents,
                     llvm::function_ref<void()> finish) = 0;
  /// Whether something was added to the cotangent of `value`.
  virtual bool hasCotangent(Value value) const = 0;
  /// The sum of all that was added to the cotangent of `value`, null if nothing
  /// was. Nothing is added from here on.
  virtual Value takeCotangent(Value value) = 0;
  /// Erases dead operations from the regions of `adjoint`, which compute primal
  /// values again. Fails, with an error, if another one has side effects.
  LogicalResult finishRegions(Operation *adjoint);
};

/// A tensor of zeros.
Value makeZeros(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
                Type elementType, Attribute encoding = {});

/// Zeros of the type and sizes of `like`, a tensor or a scalar.
Value makeZerosLike(OpBuilder &builder, Location loc, Value like);

/// The sum of the elements of the tensor `terms`, added up in the tangent type
/// of the scalar type `type` and rounded to it once.
Value sumElements(OpBuilder &builder, Location loc, Value terms, Type type);

namespace detail {
/// Default of AdjointOpInterface::buildAdjoint.
LogicalResult buildFromPullbacks(Operation *op, AdjointBuilder &adjoint,
                                 ValueRange cotangents);
} // namespace detail

} // namespace fad
} // namespace mlir

#include "fad/Interfaces/AdjointOpInterface.h.inc"

#endif // FAD_INTERFACES_ADJOINTOPINTERFACE_H
