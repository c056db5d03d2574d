//===- ReportMemory.h - What each policy keeps of a function ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_REPORTMEMORY_H
#define FAD_PIPELINES_REPORTMEMORY_H

#include "fad/Pipelines/MemoryReport.h"
#include "fad/Transforms/Residuals/TimeMemoryCurve.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// What keeps a state for each weight, in f32, or in f64 for weights in f64.
enum class Optimizer {
  /// No state.
  none,
  sgd,
  /// One number a weight.
  momentum,
  /// Two numbers a weight.
  adam
};
std::optional<Optimizer> symbolizeOptimizer(StringRef name);

/// The bytes that `text` says: a number, and a unit such as `GB` (1000 MB) or
/// `GiB` (1024 MiB); without one, bytes. `nullopt` where it says none.
std::optional<uint64_t> parseBytes(StringRef text);

/// What to report on; the same as the options of `fad-nest`, but for several
/// policies.
struct ReportRequest {
  std::string entry;
  SmallVector<int64_t> wrt, results;
  SmallVector<Policy> policies = {Policy::bp, Policy::recompute, Policy::fad,
                                  Policy::automatic};
  RecomputeLevel recompute = RecomputeLevel::elementwise;
  /// What `auto` may round bounded derivatives to; 0: they are exact.
  int64_t derivativeBits = 0;
  /// Whether it may compute derivatives from results and bits.
  bool derivativeFromOutput = false;
  /// Bytes that it may take to save time; default: it takes the fewest.
  std::optional<int64_t> residualBudget;
  ArgumentSizes sizes;
  /// What `auto` takes for a size that is known only when the program runs;
  /// default: `sizes.others`.
  std::optional<int64_t> assumedSize;
  /// For the footprint.
  Optimizer optimizer = Optimizer::none;
  /// For the largest batch. The batch is the first dimension of arguments where
  /// that is dynamic, but for those in `sizes.ofDims`. Where there is none,
  /// `batch` says how many samples the function takes, and what is neither a
  /// weight nor made for one grows with their number.
  std::optional<uint64_t> memoryBudget;
  uint64_t batch = 1;
};

/// A report on what crosses from forward to backward of a function of `module`,
/// which stays as it is. Emits an error where there is no answer.
FailureOr<MemoryReport> reportMemory(ModuleOp module,
                                     const ReportRequest &request);

/// What the policy `auto` keeps for budgets between the least time and the
/// fewest bytes.
struct TimeMemoryCurve {
  std::string entry;
  SmallVector<TimeMemoryPoint> points;
  /// What dynamic dimensions count as; `nullopt` where arguments have none.
  std::optional<int64_t> assumedSize;

  /// As a table, a point a line.
  void print(raw_ostream &os) const;
};

/// The curve of a function of `module`, which stays as it is, under the options
/// of `request` for `auto`. Emits an error where there is no answer.
FailureOr<TimeMemoryCurve> measureCurve(ModuleOp module,
                                        const ReportRequest &request);

/// Draws the function with the residuals that the only policy of `request`
/// chooses: forward on one side, backward on the other, and between them what
/// is kept. The picture is in the language of Graphviz. Emits an error where
/// there is no answer.
LogicalResult drawResiduals(ModuleOp module, const ReportRequest &request,
                            raw_ostream &os);

} // namespace mlir::fad

#endif // FAD_PIPELINES_REPORTMEMORY_H
