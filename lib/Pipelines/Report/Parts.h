//===- Parts.h - Parts of memory reports ------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_REPORT_PARTS_H
#define FAD_LIB_PIPELINES_REPORT_PARTS_H

#include "fad/Pipelines/MemoryReport.h"
#include "fad/Pipelines/NestedPair.h"

namespace mlir::fad {

/// Adds to `report`, which has its residuals, the peak of `pair`, its footprint
/// and, if `request` has a budget, the largest batch. If the required sizes are
/// missing, adds nothing, or emits an error if a budget is given. May insert
/// operations without effect.
LogicalResult addFootprint(PolicyReport &report, const ReportRequest &request,
                           const NestedPair &pair);

/// `bytes` in the largest unit that leaves a number of 1 or more.
std::string toReadable(uint64_t bytes);

/// Draws `joint`, whose residuals have been selected with `options`, in the
/// language of Graphviz: operation by operation, or, if `summarize` is set,
/// with one node for all equal residuals. Without a choice, functions of many
/// operations are summarized. May insert operations without effect.
void drawJoint(const JointFunction &joint, const SelectionOptions &options,
               const ArgumentSizes &sizes, std::optional<bool> summarize,
               raw_ostream &os);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_REPORT_PARTS_H
