//===- PeakMemory.h - Memory that forward and backward need -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_PEAKMEMORY_H
#define FAD_ANALYSIS_PEAKMEMORY_H

#include "fad/Analysis/SizeExpr.h"

namespace mlir {
class Operation;

namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// What the operations of a function need at most at once, in bytes of tensors.
struct FunctionPeak {
  /// Bytes in buffers that the function makes, and in arguments that it owns.
  uint64_t bytes = 0;
  /// Buffers that it makes.
  uint64_t allocations = 0;
  /// The first operation during which they are needed; null where none is.
  Operation *op = nullptr;
};

/// Bytes that a pair of functions, as `fad-split` makes it, needs. Constants do
/// not count, nor do scalars in `forward`.
struct PeakEstimate {
  /// Arguments of forward, that is, weights and inputs. The caller has them
  /// all the time; they are in none of the numbers below.
  uint64_t arguments = 0;
  /// Results of the primal function that are no arguments. They are alive from
  /// where they are computed to the end of backward.
  uint64_t results = 0;
  /// Residuals that are neither arguments nor results.
  uint64_t kept = 0;
  /// Cotangents, which the caller has during backward.
  uint64_t cotangents = 0;
  /// Results of backward.
  uint64_t gradients = 0;
  /// Of what forward makes, results and residuals included.
  FunctionPeak forward;
  /// Of the residuals that are kept, and of what backward makes, gradients
  /// included.
  FunctionPeak backward;

  /// Most bytes at any time, arguments and cotangents left out.
  uint64_t getPeak() const {
    return std::max(forward.bytes, results + backward.bytes);
  }
};

/// The number that stands for a size that is known only at run time.
using SizeFunction = function_ref<uint64_t(const SizeSymbols::Symbol &)>;

/// What the pair `forward` and `backward` needs, operation by operation in
/// their order. A tensor is in memory from the operation that computes it to
/// the last one that reads it. Views take nothing; an elementwise result takes
/// the buffer of an operand of its type that is not read again, and an
/// operation with an init the buffer of that.
///
/// `sizeOf` is asked for the sizes of arguments of `forward`, and for those
/// that follow from nothing. With `ownsResiduals`, backward overwrites and
/// frees the residuals that are kept; otherwise they are there to its end.
///
/// Emits an error for a value whose bytes cannot be told. May insert operations
/// without effect.
FailureOr<PeakEstimate> estimatePeak(func::FuncOp forward,
                                     func::FuncOp backward, SizeFunction sizeOf,
                                     bool ownsResiduals = true);

/// What `function` needs on its own: the estimate has nothing of a backward.
FailureOr<PeakEstimate> estimatePeak(func::FuncOp function,
                                     SizeFunction sizeOf);

} // namespace fad
} // namespace mlir

#endif // FAD_ANALYSIS_PEAKMEMORY_H
