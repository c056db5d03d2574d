//===- Footprint.h - Memory of a training step ------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_REPORT_FOOTPRINT_H
#define FAD_LIB_PIPELINES_REPORT_FOOTPRINT_H

#include "fad/Analysis/PeakMemory.h"
#include "fad/Pipelines/ReportMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// Adds to `report`, which has its residuals, the peak of the pair `forward`
/// and `backward`, its footprint and, if `request` has a budget, the largest
/// batch. If the required sizes are missing, adds nothing, or emits an error if
/// a budget is given. May insert operations without effect.
LogicalResult addFootprint(PolicyReport &report, const ReportRequest &request,
                           func::FuncOp forward, func::FuncOp backward);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_REPORT_FOOTPRINT_H
