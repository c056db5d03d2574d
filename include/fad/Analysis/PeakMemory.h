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

/// The peak memory of a function, in bytes of tensors.
struct FunctionPeak {
  /// Bytes in buffers that the function allocates, and in arguments that it
  /// owns.
  uint64_t bytes = 0;
  /// Buffers that it allocates.
  uint64_t allocations = 0;
  /// The first operation at the peak; null if nothing is allocated.
  Operation *op = nullptr;
};

/// The memory of a pair of functions, as `fad-split` makes it. Constants do not
/// count, nor do scalars in `forward`.
struct PeakEstimate {
  /// Arguments of forward, that is, weights and inputs. The caller owns them
  /// all the time; the other numbers exclude them.
  uint64_t arguments = 0;
  /// Results of the primal function that are no arguments. They are live from
  /// their computation to the end of backward.
  uint64_t results = 0;
  /// Residuals that are neither arguments nor results.
  uint64_t kept = 0;
  /// Cotangents, which the caller has during backward.
  uint64_t cotangents = 0;
  /// Results of backward.
  uint64_t gradients = 0;
  /// Tensors that forward allocates, results and residuals included.
  FunctionPeak forward;
  /// The kept residuals, and tensors that backward allocates, gradients
  /// included.
  FunctionPeak backward;

  /// The peak of the pair, without arguments and cotangents.
  uint64_t getPeak() const {
    return std::max(forward.bytes, results + backward.bytes);
  }
};

/// The size that replaces a dynamic one.
using SizeFunction = function_ref<uint64_t(const SizeSymbols::Symbol &)>;

/// The bytes that a value counts with, if it takes `bytes`.
using ScaleFunction = function_ref<uint64_t(Value value, uint64_t bytes)>;

/// The memory of the pair `forward` and `backward`, operation by operation in
/// their order. A tensor is live from the operation that computes it to its
/// last reader. Views take no memory; an elementwise result takes the buffer of
/// a dead operand of its type, and an operation with an init takes the buffer
/// of the init.
///
/// `sizeOf` gives the sizes of arguments of `forward`, and those that follow
/// from none. With `ownsResiduals`, backward overwrites and frees the kept
/// residuals; otherwise they are live to its end. Bytes count as `scale`, if it
/// is given, says.
///
/// Emits an error for a value whose bytes are unknown. May insert operations
/// without effect.
FailureOr<PeakEstimate> estimatePeak(func::FuncOp forward,
                                     func::FuncOp backward, SizeFunction sizeOf,
                                     bool ownsResiduals = true,
                                     ScaleFunction scale = nullptr);

/// The value that `forward` returns for each argument of `backward`: a
/// residual, or the result that a cotangent belongs to.
SmallVector<Value> getBackwardSources(func::FuncOp forward,
                                      func::FuncOp backward);

/// The memory of `function` alone, without a backward function.
FailureOr<PeakEstimate> estimatePeak(func::FuncOp function,
                                     SizeFunction sizeOf);

} // namespace fad
} // namespace mlir

#endif // FAD_ANALYSIS_PEAKMEMORY_H
