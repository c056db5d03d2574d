//===- GatherAdjoint.h - Adjoints of reads at computed indices --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The body of a structured operation may read elements of any tensor with
// `tensor.extract`: an embedding reads row `ids[i]` of a table, a loss column
// `label[i]` of row `i`. The cotangent of the tensor has the term of each
// iteration at the place that it reads; how it is computed depends on what is
// known of that place:
//
// - Each index is an affine function of the loops. Then it is the cotangent of
//   an operand that is read through this map.
// - Each loop is an index of its own (a loss: of the row). Then no two
//   iterations read the same element: for each element, there is one term or
//   none, depending on whether its position is the one that is read.
// - Otherwise terms meet in ways that only the values of the indices tell:
//   `fad.scatter_add`.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_GATHERADJOINT_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_GATHERADJOINT_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir {
class RewriterBase;

namespace linalg {
class LinalgOp;
} // namespace linalg

namespace fad {
struct StructuredPrimal;

/// The reads at computed indices in the body of `op`, of tensors from outside.
SmallVector<tensor::ExtractOp> findGathers(linalg::LinalgOp op);

/// Emits the cotangent of the tensor that `gather`, in the body of `primal`,
/// reads, as far as it comes from `gather`; null where it is zero.
FailureOr<Value> buildGatherCotangent(RewriterBase &rewriter,
                                      const StructuredPrimal &primal,
                                      tensor::ExtractOp gather);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_GATHERADJOINT_H
