//===- Report.cpp - What fad-runner prints --------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "llvm/Support/FormatVariadic.h"
#include <sys/resource.h>

using namespace mlir;
using namespace mlir::fad;

void fad::printTensors(raw_ostream &os, ArrayRef<NamedTensor> tensors) {
  for (const NamedTensor &tensor : tensors)
    os << tensor.name << ": " << tensor.value << "\n";
}

/// Most memory that the process has had so far, compiler included.
static int64_t getPeakResidentBytes() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage))
    return 0;
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return int64_t(usage.ru_maxrss) * 1024;
#endif
}

void fad::printStatistics(raw_ostream &os, const RunStatistics &statistics) {
  auto printTime = [&](StringRef name, double seconds) {
    os << llvm::formatv("{0,-14}{1:F3} ms\n", name, 1e3 * seconds);
  };
  auto printBytes = [&](StringRef name, int64_t bytes) {
    os << llvm::formatv("{0,-14}{1} bytes\n", name, bytes);
  };
  printTime("compile", statistics.compile);
  printTime("forward", statistics.forward);
  if (statistics.backward)
    printTime("backward", *statistics.backward);
  if (statistics.residualBytes)
    printBytes("residuals", *statistics.residualBytes);
  printBytes("peak tensors", statistics.peakTensorBytes);
  printBytes("peak process", getPeakResidentBytes());
}

void fad::printChecks(raw_ostream &os, Policy policy,
                      ArrayRef<GradientCheck> checks) {
  os << "Gradients under policy " << stringifyPolicy(policy)
     << ", in f64 against differences (bound "
     << llvm::formatv("{0:E0}", GradientCheck::kDifferenceBound)
     << ") and as they are against f64\n";
  size_t width = 0;
  SmallVector<std::string> types;
  for (const GradientCheck &check : checks) {
    llvm::raw_string_ostream(types.emplace_back()) << check.type;
    width = std::max(width, types.back().size());
  }
  auto pad = [&](StringRef text) { return llvm::left_justify(text, width); };
  os << "argument  " << pad("type") << "  differences  f64      bound\n";
  for (auto [check, type] : llvm::zip(checks, types)) {
    os << llvm::formatv("{0,-8}  {1}  {2,-11:E1}  {3,-7:E1}  {4,-7:E0}  {5}",
                        check.argument, pad(type), check.differenceError,
                        check.typeError, check.typeBound,
                        check.passes() ? "ok" : "FAIL");
    if (!check.note.empty())
      os << ": " << check.note;
    os << "\n";
  }
}
