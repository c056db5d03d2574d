//===- ReportMemory.h - What each policy keeps of a function ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_REPORTMEMORY_H
#define FAD_PIPELINES_REPORTMEMORY_H

#include "fad/Analysis/MemoryReport.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// What to report on; the same as the options of `fad-nest`, but for several
/// policies.
struct ReportRequest {
  std::string entry;
  SmallVector<int64_t> wrt, results;
  SmallVector<Policy> policies = {Policy::bp, Policy::recompute, Policy::fad,
                                  Policy::automatic};
  RecomputeLevel recompute = RecomputeLevel::elementwise;
  ArgumentSizes sizes;
  /// What `auto` takes for a size that is known only when the program runs;
  /// default: `sizes.others`.
  std::optional<int64_t> assumedSize;
};

/// A report on what crosses from forward to backward of a function of `module`,
/// which stays as it is. Emits an error where there is no answer.
FailureOr<MemoryReport> reportMemory(ModuleOp module,
                                     const ReportRequest &request);

} // namespace mlir::fad

#endif // FAD_PIPELINES_REPORTMEMORY_H
