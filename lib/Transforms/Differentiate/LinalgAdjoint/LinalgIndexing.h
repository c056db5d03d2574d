//===- LinalgIndexing.h - How loops index operands ------------ -*- C++ -*-===//
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

/// `expr` as a linear index; nothing where it divides.
std::optional<LinearIndex> getLinearIndex(AffineExpr expr);

/// Reports operands of `op` whose static sizes say different numbers of
/// iterations of a loop. Upstream's verifier does not where one of them is 0.
LogicalResult checkLoopExtents(linalg::LinalgOp op);

/// The number of iterations of `loop` in `op`, a constant where it is known.
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
/// The elements are read at computed indices. Tiling as upstream does it is
/// wrong for a map with a negative coefficient.
Value buildReverse(RewriterBase &rewriter, Location loc, Value tensor,
                   const llvm::SmallBitVector &reversed,
                   ArrayRef<int64_t> permutation);

/// Changes the iterations that `body` belongs to such that one loop indexes
/// each dimension of `operand` that `access` reads at a sum of loops, as a
/// convolution does. For the index `a * i + b * k`, the loop `i` becomes the
/// position in `operand`, and what is read at `i` is spread `a` apart among
/// zeros, surrounded by as many zeros as the other loops reach. It is then read
/// at `i + b * k`, and what is read at `k` is reversed. Returns the access
/// afterwards. Windows that cannot be changed in this way stay. Where `k` has
/// one iteration, `i` stays what it is, and `partial` says that it may not
/// reach all of the dimension.
///
/// No term is added where only zeros were put. A product that is all of the
/// body counts as zero there, so that a convolution stays one; this differs
/// where the other factor is infinite or NaN.
AffineMap solveWindows(RewriterBase &rewriter, linalg::LinalgOp op,
                       ScalarBody &body, Value operand, AffineMap access,
                       llvm::SmallBitVector &partial);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_LINALGINDEXING_H
