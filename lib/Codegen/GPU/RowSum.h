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

/// A sum over the rows of a matrix, as the gradient of a bias is: the leading
/// dimensions of the input are summed, the others are those of the result.
struct RowSum {
  linalg::GenericOp op;
  /// What the body adds, computed from the element of the input.
  Value term;
  /// Element types as the body has them.
  Type input, output;
  unsigned numSummed;

  /// The type that sums are computed in: f32 where the result is narrower.
  Type getSumType() const;
};

/// `op` as a sum over rows, if it is one of types that kernels have.
std::optional<RowSum> describeRowSum(linalg::GenericOp op);

/// What the names of the two kernels end with.
constexpr llvm::StringLiteral kPartialSuffix = "_partial";
constexpr llvm::StringLiteral kTotalSuffix = "_total";

/// The first kernel sums `rows` rows a block, one column a thread:
///
///   (input, partial sums, number of rows, of columns, `rows`)
///
/// with as many blocks as there are blocks of `threads` columns, times the
/// number of partial sums of a column. All numbers are of type index.
gpu::GPUFuncOp buildPartialSums(OpBuilder &builder, const RowSum &sum,
                                int64_t threads, StringRef name);

/// The second one adds the partial sums of a column to what the result holds,
/// one after the other, so that the result does not depend on which block comes
/// first:
///
///   (partial sums, result, number of partial sums, of columns)
gpu::GPUFuncOp buildTotalSums(OpBuilder &builder, const RowSum &sum,
                              int64_t threads, StringRef name);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_ROWSUM_H
