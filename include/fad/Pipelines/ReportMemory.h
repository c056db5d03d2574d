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

/// Optimizers, by their state for each weight, in f32, or f64 for weights in
/// f64.
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

/// A request for a report: the options of `fad-nest`, but several policies.
struct ReportRequest {
  std::string entry;
  SmallVector<int64_t> wrt, results;
  SmallVector<Policy> policies = {Policy::bp, Policy::recompute, Policy::fad,
                                  Policy::automatic};
  /// The options of `auto`. Other policies have its target and assumed size,
  /// which is `sizes.others` where that is given, unless `hasAssumedSize` is
  /// set.
  SelectionOptions selection;
  bool hasAssumedSize = false;
  ArgumentSizes sizes;
  /// The optimizer of the footprint.
  Optimizer optimizer = Optimizer::none;
  /// The budget for the largest batch. The batch is the first dimension of
  /// arguments where that is dynamic, except for those in `sizes.ofDims`.
  /// Without such a dimension, `batch` is the number of samples of the
  /// function, and all tensors grow with it but weights and tensors made for
  /// weights.
  std::optional<uint64_t> memoryBudget;
  uint64_t batch = 1;
  /// For a picture: whether it has one node for all equal residuals, in place
  /// of all operations. Without a choice, that of a large function has.
  std::optional<bool> summarizePicture;
};

/// A report on the values that cross from forward to backward of a function of
/// `module`, which stays as it is. Emits an error on failure.
FailureOr<MemoryReport> reportMemory(ModuleOp module,
                                     const ReportRequest &request);

/// The selections of the policy `auto` for budgets between the least time and
/// the fewest bytes.
struct TimeMemoryCurve {
  std::string entry;
  SmallVector<TimeMemoryPoint> points;
  /// The size of dynamic dimensions; `nullopt` if arguments have none.
  std::optional<int64_t> assumedSize;

  /// Prints a table, a point a line.
  void print(raw_ostream &os) const;
};

/// The curve of a function of `module`, which stays as it is, under the options
/// of `request` for `auto`. Emits an error on failure.
FailureOr<TimeMemoryCurve> measureCurve(ModuleOp module,
                                        const ReportRequest &request);

/// Draws the function, in the language of Graphviz, with the residuals that the
/// only policy of `request` selects: forward on one side, backward on the
/// other, and the residuals between them. A large function is summarized, with
/// one node for all equal residuals. Emits an error on failure.
LogicalResult drawResiduals(ModuleOp module, const ReportRequest &request,
                            raw_ostream &os);

} // namespace mlir::fad

#endif // FAD_PIPELINES_REPORTMEMORY_H
