//===- RowSum.h - Sums over rows in two kernels -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_ROWSUM_H
#define FAD_LIB_CODEGEN_GPU_ROWSUM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fad {

/// A sum over the rows of a matrix, such as the gradient of a bias: the leading
/// dimensions of the input are summed, the others are those of the result.
struct RowSum {
  linalg::GenericOp op;
  /// The value that the body adds, computed from the element of the input.
  Value term;
  /// Element types in the body.
  Type input, output;
  unsigned numSummed;

  /// The type of the sum: f32 if the result is narrower.
  Type getSumType() const;
};

/// `op` as a sum over rows, if it is one of types that kernels support.
std::optional<RowSum> describeRowSum(linalg::GenericOp op);

/// The suffixes of the names of the two kernels.
constexpr llvm::StringLiteral kPartialSuffix = "_partial";
constexpr llvm::StringLiteral kTotalSuffix = "_total";

/// The first kernel sums `rows` rows a block, one column a thread:
///
///   (input, partial sums, number of rows, of columns, `rows`)
///
/// Its grid has as many blocks as there are blocks of `threads` columns, times
/// the number of partial sums of a column. All numbers are of type index.
gpu::GPUFuncOp buildPartialSums(OpBuilder &builder, const RowSum &sum,
                                int64_t threads, StringRef name);

/// The second one adds the partial sums of a column, in order, to the element
/// of the result, so that the result does not depend on the order of the
/// blocks:
///
///   (partial sums, result, number of partial sums, of columns)
gpu::GPUFuncOp buildTotalSums(OpBuilder &builder, const RowSum &sum,
                              int64_t threads, StringRef name);

/// Replaces `op`, on buffers, by launches of the two kernels of `sum`.
void launchRowSum(OpBuilder &builder, linalg::GenericOp op, const RowSum &sum);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_ROWSUM_H
