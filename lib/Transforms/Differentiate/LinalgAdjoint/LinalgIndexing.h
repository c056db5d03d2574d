//===- LinalgIndexing.h - Indices of operands -------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGINDEXING_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGINDEXING_H

#include "LinalgAdjoint.h"
#include <optional>

namespace mlir::fad {

/// The index `offset` plus the sum of `coefficient * loop`.
struct LinearIndex {
  /// Loops and their coefficients, none of which is zero.
  SmallVector<std::pair<unsigned, int64_t>> terms;
  int64_t offset = 0;

  bool mentions(unsigned loop) const {
    return llvm::is_contained(llvm::make_first_range(terms), loop);
  }
};

/// `expr` as a linear index; nothing if it divides.
std::optional<LinearIndex> getLinearIndex(AffineExpr expr);

/// Reports operands of `op` whose static sizes contradict each other about the
/// extent of a loop. Upstream's verifier accepts this if one of the sizes is 0.
LogicalResult checkLoopExtents(linalg::LinalgOp op);

/// The extent of `loop` in `op`, a constant if it is known.
OpFoldResult getLoopExtent(RewriterBase &rewriter, linalg::LinalgOp op,
                           unsigned loop);

/// Whether `size` is the constant `value`.
bool isConstantSize(OpFoldResult size, int64_t value);

/// `size - 1`.
Value getLast(OpBuilder &builder, Location loc, OpFoldResult size);

/// `tensor` with the order of elements reversed along the dimensions in
/// `reversed`; dimension `i` of the result is dimension `permutation[i]` of
/// `tensor`.
///
/// The elements are read at computed indices, because upstream's tiling is
/// wrong for a map with a negative coefficient.
Value buildReverse(RewriterBase &rewriter, Location loc, Value tensor,
                   const llvm::SmallBitVector &reversed,
                   ArrayRef<int64_t> permutation);

/// Rewrites the iterations of `body` such that one loop indexes each dimension
/// of `operand` that `access` reads at a sum of loops, as a convolution does.
/// For the index `a * i + b * k`, the loop `i` becomes the position in
/// `operand`. The inputs along `i` are dilated by `a` and padded with zeros by
/// the extent of the other loops, and then read at `i + b * k`; the inputs
/// along `k` are reversed. Returns the new access. Other windows stay. If `k`
/// has one iteration, `i` stays as it is, and `partial` says that it may not
/// reach all of the dimension.
///
/// Padding contributes no terms. A product that is the whole body counts as
/// zero in the padding, so that a convolution stays one; this is inexact if the
/// other factor is infinite or NaN.
AffineMap solveWindows(RewriterBase &rewriter, linalg::LinalgOp op,
                       ScalarBody &body, Value operand, AffineMap access,
                       llvm::SmallBitVector &partial);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGINDEXING_H
