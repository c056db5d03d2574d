//===- fad-memory-report.cpp - What each policy keeps for backward --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "fad/Pipelines/ReportMemory.h"
#include "fad/Rules/Rules.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
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
  llvm::cl::opt<std::string> entry{
      "entry",
      llvm::cl::desc(
          "Function to report on; default: the only one "
          "with fad.request, or else the only public function with a "
          "body"),
      llvm::cl::value_desc("name"), llvm::cl::cat(category)};
  llvm::cl::list<int64_t> wrt{
      "wrt", llvm::cl::CommaSeparated,
      llvm::cl::desc("Arguments to differentiate with respect to; default: "
                     "every floating-point tensor"),
      llvm::cl::value_desc("list"), llvm::cl::cat(category)};
  llvm::cl::list<int64_t> results{
      "results", llvm::cl::CommaSeparated,
      llvm::cl::desc("Results to differentiate, each of which has a cotangent; "
                     "default: every one of floating point"),
      llvm::cl::value_desc("list"), llvm::cl::cat(category)};
  llvm::cl::list<fad::Policy> policies{
      "policy",
      llvm::cl::desc("Policy to report, may be repeated; default: all"),
      llvm::cl::values(
          clEnumValN(fad::Policy::bp, "bp", "What a tape saves"),
          clEnumValN(fad::Policy::recompute, "recompute", "Sources of regions"),
          clEnumValN(fad::Policy::fad, "fad", "Derivatives of regions")),
      llvm::cl::cat(category)};
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
  request.entry = commandLine.entry;
  llvm::append_range(request.wrt, commandLine.wrt);
  llvm::append_range(request.results, commandLine.results);
  if (!commandLine.policies.empty())
    request.policies = SmallVector<fad::Policy>(commandLine.policies.begin(),
                                                commandLine.policies.end());
  if (commandLine.size.getNumOccurrences())
    request.sizes.others = commandLine.size;
  return fad::reportMemory(module, request);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine commandLine;
  llvm::cl::HideUnrelatedOptions(commandLine.category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "What crosses from the forward to the backward function, by policy\n");

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(commandLine.input, &error);
  if (!input) {
    llvm::errs() << "error: " << error << "\n";
    return EXIT_FAILURE;
  }

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fad::FadDialect>();
  fad::registerAllRules(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return EXIT_FAILURE;
  FailureOr<fad::MemoryReport> report = makeReport(*module, commandLine);
  if (failed(report))
    return EXIT_FAILURE;

  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(commandLine.output, &error);
  if (!output) {
    llvm::errs() << "error: " << error << "\n";
    return EXIT_FAILURE;
  }
  if (commandLine.format == Format::json)
    report->printJSON(output->os());
  else
    report->printTable(output->os());
  output->keep();
  return EXIT_SUCCESS;
}
