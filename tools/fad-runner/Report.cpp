//===- Report.cpp - What fad-runner prints --------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
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

namespace {
/// A number of the memory statistics.
struct MemoryRow {
  /// The names in the table and in JSON.
  const char *label, *key;
  uint64_t (*get)(const PeakEstimate &);
  /// Whether it makes no sense for a function alone.
  bool isOfPair;
};
} // namespace

static constexpr MemoryRow kMemoryRows[] = {
    {"arguments", "arguments",
     [](const PeakEstimate &memory) { return memory.arguments; }, false},
    {"results", "results",
     [](const PeakEstimate &memory) { return memory.results; }, false},
    {"residuals", "residuals",
     [](const PeakEstimate &memory) { return memory.kept; }, true},
    {"cotangents", "cotangents",
     [](const PeakEstimate &memory) { return memory.cotangents; }, true},
    {"gradients", "gradients",
     [](const PeakEstimate &memory) { return memory.gradients; }, true},
    {"forward peak", "forward_peak",
     [](const PeakEstimate &memory) { return memory.forward.bytes; }, false},
    {"backward peak", "backward_peak",
     [](const PeakEstimate &memory) { return memory.backward.bytes; }, true},
    {"peak", "peak",
     [](const PeakEstimate &memory) { return memory.getPeak(); }, true},
    {"forward allocations", "forward_allocations",
     [](const PeakEstimate &memory) { return memory.forward.allocations; },
     false},
    {"backward allocations", "backward_allocations",
     [](const PeakEstimate &memory) { return memory.backward.allocations; },
     true}};

static void printMemory(raw_ostream &os, const RunStatistics &statistics) {
  os << llvm::format("%-20s %15s %15s\n", "bytes", "measured", "estimated");
  for (const MemoryRow &row : kMemoryRows)
    if (statistics.backward || !row.isOfPair)
      os << llvm::format("%-20s %15" PRIu64 " %15" PRIu64 "\n", row.label,
                         row.get(statistics.measured),
                         row.get(statistics.estimated));
}

void fad::printStatisticsJSON(raw_ostream &os,
                              const RunStatistics &statistics) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto printBytes = [&](StringRef name, const PeakEstimate &memory) {
    json.attributeObject(name, [&] {
      for (const MemoryRow &row : kMemoryRows)
        if (statistics.backward || !row.isOfPair)
          json.attribute(row.key, row.get(memory));
    });
  };
  json.object([&] {
    json.attribute("compile_seconds", statistics.compile);
    json.attribute("forward_seconds", statistics.forward);
    if (statistics.backward)
      json.attribute("backward_seconds", *statistics.backward);
    printBytes("measured", statistics.measured);
    printBytes("estimated", statistics.estimated);
  });
  os << "\n";
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
  if (statistics.backward)
    printBytes("residuals", statistics.measured.kept);
  printBytes("peak tensors", statistics.peakTensorBytes);
  printBytes("peak process", getPeakResidentBytes());
  printMemory(os, statistics);
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
