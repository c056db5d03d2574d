//===- ReductionAdjoint.h - Adjoints of maxima and products -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A reduction combines *terms*, one for each iteration, with the init. The
// cotangent of a sum is the cotangent of each term. Here is what it is for
// other reductions:
//
// - Maximum, minimum: terms equal to the result share the cotangent evenly, as
//   in PyTorch's `amax`. So does the init where it equals the result. A NaN
//   result belongs to the terms that are NaN.
// - Maximum, minimum over windows of at most 255 elements: the first term that
//   equals the result has it all, as in pooling by maximum everywhere. Its
//   position in the window takes few bits, and neither what was pooled nor the
//   result has to be kept. It is the init's where it equals no term.
// - Maximum, minimum of an operation that also returns the loop index of the
//   term that it took: that term has it all, as in PyTorch's `max` along a
//   dimension.
// - Product: the cotangent times the product of all other terms and the init,
//   zeros among them or not. It is computed in f64, by division.
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

/// How the iterations of a structured operation combine into one result, where
/// they do not add up.
struct Reduction {
  enum class Kind { Maximum, Minimum, Product };

  Kind kind;
  /// What an iteration contributes, in the body.
  Value term;
  /// Whether the init does not count: it is the least, greatest, or 1.
  bool hasNeutralInit = false;
  /// Another result that is the loop index of the term that was taken, and the
  /// value of the body that it was taken from; null where there is none.
  Value taken, position;
  /// The loops of a window, the outermost first, with their extents; none where
  /// the terms are not those of a window of known and small size.
  SmallVector<std::pair<unsigned, int64_t>> window;
};

/// Whether `value`, in the body of `op`, depends on what other iterations
/// yielded. `writtenOnce` is as in `StructuredPrimal`.
bool readsOtherIterations(linalg::LinalgOp op, Value value,
                          ArrayRef<bool> writtenOnce);

/// The reduction that computes result `result` of `op`; nothing where it is
/// another one.
std::optional<Reduction> matchReduction(linalg::LinalgOp op, unsigned result,
                                        ArrayRef<bool> writtenOnce);

/// The adjoint of one such result.
class ReductionAdjoint {
public:
  ReductionAdjoint(unsigned result, Reduction reduction)
      : result(result), reduction(reduction) {}

  Value getTerm() const { return reduction.term; }

  /// Computes what all terms read, before anything else is called.
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
  /// row-major order; the size of the window where none does.
  Value emitPosition(RewriterBase &rewriter,
                     const StructuredPrimal &primal) const;
  void emitShare(RewriterBase &rewriter, const StructuredPrimal &primal);
  void emitProducts(RewriterBase &rewriter, const StructuredPrimal &primal);

  unsigned result;
  Reduction reduction;
  /// For a maximum or minimum, one tensor: the share of a term that is taken.
  /// For a product, two: what is divided by a term that is not zero, and what
  /// a zero gets.
  SmallVector<Value> weights;
  /// Where there is a window, the position of the term that has it all.
  Value position;
};

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_REDUCTIONADJOINT_H
