//===- Report.h - Reports that fad-runner prints and writes -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FADRUNNER_REPORT_H
#define FAD_TOOLS_FADRUNNER_REPORT_H

#include "fad/Analysis/PeakMemory.h"
#include "fad/Runtime/GradientCheck.h"

namespace mlir::fad {

/// A value and the name of its file, without extension.
struct NamedTensor {
  std::string name;
  HostTensor value;
};

/// Makes the folder `path`, if it does not exist. Fails if no file can be
/// written to it.
llvm::Error prepareFolder(StringRef path);

/// Writes each tensor to a `.npy` file in the folder `path`, or none.
llvm::Error writeTensors(StringRef path, ArrayRef<NamedTensor> tensors);

/// Times in seconds and memory in bytes of a run.
struct RunStatistics {
  double compile = 0, forward = 0;
  std::optional<double> backward;
  int64_t peakTensorBytes = 0;
  /// Bytes of tensors, as measured and as estimated.
  PeakEstimate measured, estimated;
};

void printTensors(raw_ostream &os, ArrayRef<NamedTensor> tensors);
void printStatistics(raw_ostream &os, const RunStatistics &statistics);
/// The same as a JSON object, without the figures of the whole process.
void printStatisticsJSON(raw_ostream &os, const RunStatistics &statistics);
void printChecks(raw_ostream &os, Policy policy,
                 ArrayRef<GradientCheck> checks);

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_REPORT_H
