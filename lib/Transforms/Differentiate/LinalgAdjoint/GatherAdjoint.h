//===- GatherAdjoint.h - Adjoints of reads at computed indices --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The body of a structured operation may read elements of any tensor with
// `tensor.extract`: an embedding reads row `ids[i]` of a table, a loss column
// `label[i]` of row `i`. Each iteration contributes a term to the cotangent of
// the tensor, at the place that it reads. Three cases differ in the computation
// of this cotangent:
//
// - Each index is an affine function of the loops. The cotangent is that of an
//   operand that is read through this map.
// - Each loop is an index of its own (a loss: of the row). No two iterations
//   read the same element, so each element has one term or none, depending on
//   whether the computed index is its position.
// - Otherwise the number of terms of an element depends on the values of the
//   indices: `fad.scatter_add`.
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

/// Emits the contribution of `gather`, in the body of `primal`, to the
/// cotangent of the tensor that it reads; null for a zero.
FailureOr<Value> buildGatherCotangent(RewriterBase &rewriter,
                                      const StructuredPrimal &primal,
                                      tensor::ExtractOp gather);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_GATHERADJOINT_H
