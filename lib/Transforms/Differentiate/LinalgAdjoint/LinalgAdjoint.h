//===- LinalgAdjoint.h - Parts of adjoints of linalg operations -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The adjoint of a structured operation is built in two steps. The first builds
// the terms: a scalar body that computes, for one iteration, its contribution
// to the cotangent of the element that it reads. The second builds the sum: an
// operation on tensors that runs the body over all iterations and adds up the
// terms of each element.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGADJOINT_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGADJOINT_H

#include "ReductionAdjoint.h"
#include "fad/Transforms/Differentiate/Adjoint.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fad {

/// The body of an adjoint under construction: one operand and map for each
/// argument of the block, and the value that it computes. The maps are over the
/// loops of the primal operation; the block may use `linalg.index` of them.
struct ScalarBody {
  ScalarBody() : block(std::make_unique<Block>()) {}

  /// Adds an operand that is read through `map`; returns its argument.
  BlockArgument addOperand(Value operand, AffineMap map);
  /// Drops the operands whose argument the body ignores.
  void dropUnusedOperands();

  std::unique_ptr<Block> block;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  /// The term of one iteration, in the tangent type of the operand whose
  /// cotangent it contributes to; null for a zero.
  Value sum;
};

/// A structured operation whose adjoint is built.
struct StructuredPrimal {
  /// The map of result `index`.
  AffineMap getResultMap(unsigned index) const {
    linalg::LinalgOp structured = op;
    return structured.getMatchingIndexingMap(
        structured.getDpsInitOperand(index));
  }

  linalg::LinalgOp op;
  /// One for each result; null if it has none.
  ValueRange cotangents;
  /// For each result, whether each iteration writes another element, and all
  /// iterations together write all of it. The init then is an ordinary input.
  SmallVector<bool> writtenOnce;
  /// Whether derivatives are written in terms of results, if a rule has that
  /// form.
  bool preferResults;
  /// For each result, its adjoint if it is a reduction other than a sum.
  SmallVector<std::optional<ReductionAdjoint>> reductions = {};
};

/// Clones the body of `primal` into that of `body`, which is empty, with all
/// operands.
IRMapping clonePrimalBody(const StructuredPrimal &primal, ScalarBody &body);

/// The terms for `seed`, an argument or the result of an operation in the body
/// of the primal: the sum over all results of the cotangent times the partial
/// derivative of the yielded value with respect to `seed`. `wanted` are values
/// of the primal body that the caller reads; their clones in the returned block
/// replace them.
FailureOr<ScalarBody> buildTerms(const StructuredPrimal &primal, Value seed,
                                 MutableArrayRef<Value> wanted = {});

/// Emits the cotangent of `operand`: the sum over all iterations of `op` of the
/// terms of `body`, each at the element that `access` gives. The result has the
/// type of `operand`.
Value emitCotangent(RewriterBase &rewriter, linalg::LinalgOp op,
                    ScalarBody body, Value operand, AffineMap access);

/// `tensor` with its elements rounded or extended to `elementType`.
Value convertElements(OpBuilder &builder, Location loc, Value tensor,
                      Type elementType);

/// Reports that a result combines its elements by a reduction without a rule.
LogicalResult emitNotASum(linalg::LinalgOp op);

/// The reads at computed indices in the body of `op`, of tensors from outside.
SmallVector<tensor::ExtractOp> findGathers(linalg::LinalgOp op);

/// Emits the contribution of `gather`, in the body of `primal`, to the
/// cotangent of the tensor that it reads; null for a zero.
FailureOr<Value> buildGatherCotangent(RewriterBase &rewriter,
                                      const StructuredPrimal &primal,
                                      tensor::ExtractOp gather);

/// Whether every value computed from `value`, a tensor, is invariant under the
/// addition of any number to any of its elements, so that its derivative is
/// zero. A softmax, its logarithm and log-sum-exp use the maximum in this way:
/// they subtract it before they take exponentials, only to prevent overflow.
///
/// The analysis follows the added number through the program: a difference with
/// a multiple cancels it, an exponential and sums of exponentials are scaled by
/// it, and a quotient of two values of the same scale loses it. Operations that
/// carry `fad.adjoint_of` are ignored.
bool isInvariantToShift(Value value);

/// Replaces `op` by its named form: `linalg.matmul` or `linalg.batch_matmul`,
/// with indexing maps if an operand is transposed, a product with a vector, any
/// other `linalg.contract`, a convolution, a sum over windows, or
/// `linalg.transpose`. Downstream compilers optimize named operations. Returns
/// the new operation, or `op` if it has no named form.
///
/// Upstream's `specializeGenericOp` is not used: in LLVM 22.1 it drops the
/// transposition of a matmul's operands.
linalg::LinalgOp nameContraction(RewriterBase &rewriter, linalg::GenericOp op);

/// Replaces `op` by its named form, a convolution or a sum over windows.
/// Returns the new operation, or null if there is no named form; `op` then
/// stays.
linalg::LinalgOp nameConvolution(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGADJOINT_H
