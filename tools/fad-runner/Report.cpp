//===- Report.cpp - What fad-runner prints --------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "llvm/Support/Format.h"
#include <cinttypes>
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
  auto printTime = [&](const char *name, double seconds) {
    os << llvm::format("%-14s%.3f ms\n", name, 1e3 * seconds);
  };
  auto printBytes = [&](const char *name, int64_t bytes) {
    os << llvm::format("%-14s%" PRId64 " bytes\n", name, bytes);
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
  os << "gradients under policy " << stringifyPolicy(policy)
     << ", compared with differences in f64 (bound "
     << llvm::format("%.0e", GradientCheck::kDifferenceBound)
     << ") and with themselves in f64\n";
  size_t width = 0;
  SmallVector<std::string> types;
  for (const GradientCheck &check : checks) {
    llvm::raw_string_ostream(types.emplace_back()) << check.type;
    width = std::max(width, types.back().size());
  }
  auto pad = [&](StringRef text) { return llvm::left_justify(text, width); };
  os << "argument  " << pad("type") << "  differences  f64      bound\n";
  for (auto [check, type] : llvm::zip(checks, types)) {
    os << llvm::format("%-8u  ", check.argument) << pad(type)
       << llvm::format("  %-11.1e  %-7.1e  %.0e  ", check.differenceError,
                       check.typeError, check.typeBound)
       << (check.passes() ? "ok" : "FAIL");
    if (!check.note.empty())
      os << ": " << check.note;
    os << "\n";
  }
}
