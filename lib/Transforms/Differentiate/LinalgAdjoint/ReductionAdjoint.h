//===- ReductionAdjoint.h - Adjoints of maxima and products -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A reduction combines *terms*, one for each iteration, with the init. The
// cotangent of a sum is the cotangent of each term. The cotangents of the terms
// of other reductions are:
//
// - Maximum, minimum: terms equal to the result share the cotangent evenly, as
//   in PyTorch's `amax`. So does the init if it equals the result. The
//   cotangent of a NaN result belongs to the terms that are NaN.
// - Maximum, minimum over windows of at most 255 elements: the first term that
//   equals the result has the whole cotangent, as is usual for max pooling. Its
//   position in the window takes few bits, and neither the input of the pooling
//   nor the result has to be kept. If no term equals the result, the init has
//   the cotangent.
// - Maximum, minimum of an operation that also returns the loop index of the
//   selected term: that term has the whole cotangent, as in PyTorch's `max`
//   along a dimension.
// - Product: the cotangent times the product of all other terms and the init,
//   which may be zero. It is computed in f64, by division.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_REDUCTIONADJOINT_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_REDUCTIONADJOINT_H

#include "fad/Interfaces/Expr.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir {
class IRMapping;
class RewriterBase;

namespace fad {
struct ScalarBody;
struct StructuredPrimal;

/// The combination of the iterations of a structured operation into one result,
/// other than a sum.
struct Reduction {
  enum class Kind { Maximum, Minimum, Product };

  Kind kind;
  /// The contribution of an iteration, in the body.
  Value term;
  /// Whether the init is neutral: the least, the greatest, or 1.
  bool hasNeutralInit = false;
  /// Another result that is the loop index of the selected term, and the value
  /// of the body from which it is selected; null if there is none.
  Value taken, position;
  /// The loops of a window, the outermost first, with their extents; empty
  /// unless the terms are those of a window of known and small size.
  SmallVector<std::pair<unsigned, int64_t>> window;
};

/// Calls `callback` for `value` and all values of its backward slice in `body`,
/// up to the arguments of `body`.
void forEachSource(Block *body, Value value,
                   llvm::function_ref<void(Value)> callback);

/// Whether `value`, in the body of `op`, depends on values yielded by other
/// iterations. `writtenOnce` is as in `StructuredPrimal`.
bool readsOtherIterations(linalg::LinalgOp op, Value value,
                          ArrayRef<bool> writtenOnce);

/// The reduction that computes result `result` of `op`; nothing for an unknown
/// one.
std::optional<Reduction> matchReduction(linalg::LinalgOp op, unsigned result,
                                        ArrayRef<bool> writtenOnce);

/// The adjoint of one such result.
class ReductionAdjoint {
public:
  ReductionAdjoint(unsigned result, Reduction reduction)
      : result(result), reduction(reduction) {}

  Value getTerm() const { return reduction.term; }

  /// Computes the values that all terms read. Required before all other calls.
  void emitWeights(RewriterBase &rewriter, const StructuredPrimal &primal);
  /// In the body of an adjoint, the cotangent of the term of an iteration.
  /// `primals` maps the body of the primal into `body`.
  Expr getTermCotangent(ExprBuilder &eb, const StructuredPrimal &primal,
                        ScalarBody &body, const IRMapping &primals) const;
  Value emitInitCotangent(RewriterBase &rewriter,
                          const StructuredPrimal &primal) const;

private:
  /// Whether the term of the iteration has a share of the cotangent.
  Expr isTaken(ExprBuilder &eb, const StructuredPrimal &primal,
               ScalarBody &body, const IRMapping &primals) const;
  /// The number of terms that have a share.
  Value emitCount(RewriterBase &rewriter, const StructuredPrimal &primal) const;
  /// The position of the first term in its window that equals the result, in
  /// row-major order; the size of the window if none does.
  Value emitPosition(RewriterBase &rewriter,
                     const StructuredPrimal &primal) const;
  void emitShare(RewriterBase &rewriter, const StructuredPrimal &primal);
  void emitProducts(RewriterBase &rewriter, const StructuredPrimal &primal);

  unsigned result;
  Reduction reduction;
  /// For a maximum or minimum, one tensor: the share of a selected term. For a
  /// product, two: the dividend for a term that is not zero, and the share of a
  /// zero.
  SmallVector<Value> weights;
  /// For a window, the position of the term that has the whole cotangent.
  Value position;
};

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_REDUCTIONADJOINT_H
