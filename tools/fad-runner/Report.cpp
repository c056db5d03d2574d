//===- Report.cpp - Reports that fad-runner prints and writes -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "fad/Runtime/Npy.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cinttypes>
#include <sys/resource.h>

using namespace mlir;
using namespace mlir::fad;
using llvm::sys::fs::TempFile;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static llvm::Error makeError(const Twine &what, std::error_code code) {
  return llvm::createStringError(code, what + ": " + code.message());
}

/// A file in `folder` that `name` is going to be the name of.
static llvm::Expected<TempFile> createTemporary(StringRef folder,
                                                const Twine &name) {
  SmallString<128> model(folder);
  llvm::sys::path::append(model, name + ".%%%%%%%%.tmp");
  auto file = TempFile::create(model, llvm::sys::fs::all_read |
                                          llvm::sys::fs::owner_write);
  if (!file)
    return makeError("cannot write to '" + folder + "'",
                     llvm::errorToErrorCode(file.takeError()));
  return file;
}

llvm::Error fad::prepareFolder(StringRef path) {
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return makeError("cannot make the folder '" + path + "'", code);
  auto probe = createTemporary(path, "probe");
  return probe ? probe->discard() : probe.takeError();
}

llvm::Error fad::writeTensors(StringRef path, ArrayRef<NamedTensor> tensors) {
  auto getName = [&](const NamedTensor &tensor) {
    SmallString<128> name(path);
    llvm::sys::path::append(name, tensor.name + ".npy");
    return name.str().str();
  };
  // A folder is the one thing that a file does not replace; better to know
  // before others are replaced.
  for (const NamedTensor &tensor : tensors)
    if (llvm::sys::fs::is_directory(getName(tensor)))
      return makeError("cannot write '" + getName(tensor) + "'",
                       std::make_error_code(std::errc::is_a_directory));
  std::vector<TempFile> files;
  llvm::scope_exit discard([&] {
    for (TempFile &file : files)
      llvm::consumeError(file.discard());
  });
  for (const NamedTensor &tensor : tensors) {
    auto file = createTemporary(path, tensor.name);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    llvm::raw_fd_ostream os(files.back().FD, /*shouldClose=*/false);
    writeNpy(os, tensor.value);
    os.flush();
    if (os.has_error()) {
      std::error_code code = os.error();
      os.clear_error();
      return makeError(
          "cannot write '" + tensor.name + ".npy' to '" + path + "'", code);
    }
  }
  // All are written; giving them their names does not fail for lack of space.
  discard.release();
  llvm::Error errors = llvm::Error::success();
  for (auto [file, tensor] : llvm::zip(files, tensors))
    errors = llvm::joinErrors(std::move(errors), file.keep(getName(tensor)));
  return errors;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

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
