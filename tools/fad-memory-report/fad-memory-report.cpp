//===- fad-memory-report.cpp - What each policy keeps for backward --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/RequestOptions.h"
#include "../Common/ToolInput.h"
#include "fad/Pipelines/ReportMemory.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {
enum class Format { table, json };

struct CommandLine {
  llvm::cl::OptionCategory category{"fad-memory-report options"};
  llvm::cl::opt<std::string> input{llvm::cl::Positional,
                                   llvm::cl::desc("<input file>"),
                                   llvm::cl::init("-")};
  llvm::cl::opt<std::string> output{
      "o", llvm::cl::desc("Output file"), llvm::cl::value_desc("file"),
      llvm::cl::init("-"), llvm::cl::cat(category)};
  fad::RequestOptions request{category};
  llvm::cl::list<fad::Policy> policies{
      "policy",
      llvm::cl::desc("Policy to report, may be repeated; default: all"),
      fad::getPolicyValues(), llvm::cl::cat(category)};
  llvm::cl::opt<uint64_t> size{
      "size", llvm::cl::desc("Size of every dynamic dimension of an argument"),
      llvm::cl::value_desc("N"), llvm::cl::cat(category)};
  llvm::cl::opt<Format> format{
      "format", llvm::cl::desc("Form of the report"),
      llvm::cl::values(clEnumValN(Format::table, "table", "For people"),
                       clEnumValN(Format::json, "json", "For programs")),
      llvm::cl::init(Format::table), llvm::cl::cat(category)};
};
} // namespace

/// Reports on `module`, or emits an error.
static FailureOr<fad::MemoryReport> makeReport(ModuleOp module,
                                               const CommandLine &commandLine) {
  fad::ReportRequest request;
  request.entry = commandLine.request.entry;
  llvm::append_range(request.wrt, commandLine.request.wrt);
  llvm::append_range(request.results, commandLine.request.results);
  if (!commandLine.policies.empty())
    request.policies = SmallVector<fad::Policy>(commandLine.policies.begin(),
                                                commandLine.policies.end());
  request.recompute = commandLine.request.recompute;
  if (commandLine.size.getNumOccurrences())
    request.sizes.others = commandLine.size;
  return fad::reportMemory(module, request);
}

/// Reports on `module` to the output file, which is not touched after an error.
static LogicalResult writeReport(ModuleOp module,
                                 const CommandLine &commandLine) {
  FailureOr<fad::MemoryReport> report = makeReport(module, commandLine);
  if (failed(report))
    return failure();
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(commandLine.output, &error);
  if (!output) {
    llvm::errs() << "error: " << error << "\n";
    return failure();
  }
  if (commandLine.format == Format::json)
    report->printJSON(output->os());
  else
    report->printTable(output->os());
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine commandLine;
  llvm::cl::HideUnrelatedOptions(commandLine.category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "What crosses from the forward to the backward function, by policy\n");

  DialectRegistry registry;
  fad::registerToolDialects(registry);
  LogicalResult result =
      fad::runOnFile(commandLine.input, registry, [&](ModuleOp module) {
        return writeReport(module, commandLine);
      });
  return succeeded(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}
