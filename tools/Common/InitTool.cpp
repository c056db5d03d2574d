//===- InitTool.cpp - The beginning of all tools --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "fad/Codegen/CUDAToolkit.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <cstdlib>
#include <set>
#include <vector>

static void reportFatalErrors() {
  auto report = +[](void *, const char *reason, bool) {
    llvm::errs() << "error: LLVM cannot go on: " << reason << "\n";
    // Other threads may still run: no destructor does.
    std::_Exit(EXIT_FAILURE);
  };
  llvm::install_fatal_error_handler(report);
  llvm::install_bad_alloc_error_handler(report);
  llvm::install_out_of_memory_new_handler();
}

/// The targets for which LLVM has code, among those that fad compiles for.
static std::string describeTargets() {
  llvm::InitializeAllTargetInfos();
  std::set<llvm::StringRef> names;
  for (const llvm::Target &target : llvm::TargetRegistry::targets())
    names.insert(target.getBackendName());
  std::string text;
  for (llvm::StringRef name : {"X86", "AArch64", "NVPTX"})
    if (names.count(name))
      text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

/// Prints what follows LLVM's version.
static void printVersion(llvm::raw_ostream &os) {
  os << "fad version " FAD_VERSION "\n"
     << "  Processor: " << llvm::sys::getHostCPUName() << " ("
     << llvm::sys::getProcessTriple() << ")\n"
     << "  LLVM targets: " << describeTargets() << "\n"
     << "  CUDA toolkit: "
     << mlir::fad::findCUDAToolkit().value_or("none was found") << "\n";
}

#ifndef NDEBUG
/// Registers the option `debug-only` for the debug output of fad, where LLVM
/// was built without assertions and so has no such option.
static void registerDebugOnly() {
  if (llvm::cl::getRegisteredOptions().contains("debug-only"))
    return;
  static std::vector<std::string> types;
  static llvm::cl::list<std::string> only(
      "debug-only", llvm::cl::CommaSeparated,
      llvm::cl::desc("Print the debug output of these passes of fad"),
      llvm::cl::callback([](const std::string &type) {
        types.push_back(type);
        std::vector<const char *> names;
        for (const std::string &each : types)
          names.push_back(each.c_str());
        llvm::DebugFlag = true;
        llvm::setCurrentDebugTypes(names.data(), names.size());
      }));
}
#else
static void registerDebugOnly() {}
#endif

void mlir::fad::initTool() {
  reportFatalErrors();
  registerDebugOnly();
  llvm::cl::AddExtraVersionPrinter(printVersion);
}
