//===- ElementwiseUtils.h - Building and fusing fad.elementwise -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_UTILS_ELEMENTWISEUTILS_H
#define FAD_TRANSFORMS_UTILS_ELEMENTWISEUTILS_H

#include "fad/IR/Fad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

namespace mlir {
class RewriterBase;

namespace func {
class FuncOp;
} // namespace func

namespace linalg {
class LinalgOp;
} // namespace linalg

namespace fad {

/// A builder that appends to `block`, which need not belong to an operation
/// yet.
OpBuilder appendTo(Block &block, MLIRContext *context);

/// The blocks of `function` that hold operations on tensors: its own, and,
/// before them, those of the control flow (`scf`) in it.
SmallVector<Block *> findTensorBlocks(func::FuncOp function);

/// Erases the dead operations of `block`; values in `kept` are live. Returns
/// whether there were any.
bool eraseDeadOps(Block &block, ValueRange kept = {});

/// Merges equal operations in the body of `op` and erases dead ones.
void simplifyBody(RewriterBase &rewriter, ElementwiseOp op);

/// Builds an `fad.elementwise` around the scalar block `body`, which it takes
/// over. Argument `i` of `body` stands for `inputs[i]`; arguments that the
/// body does not use are dropped (one tensor always stays). Values that `body`
/// captures from above become scalar operands, or are cloned into it where
/// they are constants. `yielded` become the results, of `resultTypes`.
ElementwiseOp buildElementwise(OpBuilder &builder, Location loc,
                               TypeRange resultTypes,
                               std::unique_ptr<Block> body, ValueRange inputs,
                               ValueRange yielded);

/// Builds an operation like `op` whose results are `scalars`, values that the
/// body of `op` computes, captures, or has as arguments.
ElementwiseOp cloneYielding(OpBuilder &builder, ElementwiseOp op,
                            ArrayRef<Value> scalars);

/// Simplifies an operation after other operations were fused into it. The
/// fusing functions leave this to their caller: simplifying after each of many
/// fusions would take quadratic time.
void simplifyFused(RewriterBase &rewriter, ElementwiseOp op);

/// Merges `second` into `first`, an earlier operation of the same block that
/// reads the same shape: one operation, at the place of `first`, with the
/// results of both. Requires `canFuseSiblings`.
ElementwiseOp fuseSiblings(RewriterBase &rewriter, ElementwiseOp first,
                           ElementwiseOp second);

/// Whether the operands of `second` dominate `first`. `isBefore` says which of
/// two operations of their block comes first.
bool canFuseSiblings(
    ElementwiseOp first, ElementwiseOp second,
    llvm::function_ref<bool(Operation *, Operation *)> isBefore);

/// Computes the results of `producer` that `consumer` reads inside `consumer`.
/// The producer must have no other user, and is erased.
FailureOr<ElementwiseOp> fuseProducer(RewriterBase &rewriter,
                                      ElementwiseOp producer,
                                      ElementwiseOp consumer);

/// A readable name for `op`: the name of the only operation of its body, or its
/// own name.
StringRef describe(ElementwiseOp op);

/// Whether `predicate` selects the greater of its operands; nothing if it
/// selects neither the greater nor the less.
std::optional<bool> asksForGreater(arith::CmpFPredicate predicate);

/// The loops that index `operand` of `op`, if each dimension has a loop of its
/// own or size 1: the iterations then cover all elements.
std::optional<llvm::SmallBitVector> findOwnLoops(linalg::LinalgOp op,
                                                 OpOperand &operand);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_UTILS_ELEMENTWISEUTILS_H
