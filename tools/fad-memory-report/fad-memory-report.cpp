//===- fad-memory-report.cpp - Residuals of each policy -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/EscapingStream.h"
#include "../Common/Mains.h"
#include "../Common/RequestOptions.h"
#include "../Common/Tool.h"
#include "fad/Pipelines/MemoryReport.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
enum class Format { table, json, curve, dot };

struct CommandLine {
  llvm::cl::OptionCategory category{"fad-memory-report options"};
  llvm::cl::opt<std::string> input{llvm::cl::Positional,
                                   llvm::cl::desc("<input file>"),
                                   llvm::cl::init("-")};
  llvm::cl::opt<std::string> output{
      "o", llvm::cl::desc("Output file"), llvm::cl::value_desc("file"),
      llvm::cl::init("-"), llvm::cl::cat(category)};
  RequestOptions request{category};
  CommandLine() { request.expose({request.target}); }
  llvm::cl::list<Policy, bool, NamedParser<Policy>> policies{
      "policy",
      llvm::cl::desc("Policy to report, may be repeated; default: all"),
      getPolicyValues(), llvm::cl::cat(category)};
  llvm::cl::opt<uint64_t> size{
      "size", llvm::cl::desc("Size of every dynamic dimension of an argument"),
      llvm::cl::value_desc("N"), llvm::cl::cat(category)};
  llvm::cl::opt<Format, false, NamedParser<Format>> format{
      "format", llvm::cl::desc("Form of the report"),
      llvm::cl::values(
          clEnumValN(Format::table, "table", "For people"),
          clEnumValN(Format::json, "json", "For programs"),
          clEnumValN(Format::curve, "curve",
                     "What auto keeps and how long it takes, for all budgets"),
          clEnumValN(Format::dot, "dot",
                     "A picture of one policy, for Graphviz")),
      llvm::cl::init(Format::table), llvm::cl::cat(category)};
  llvm::cl::opt<bool> group{
      "group",
      llvm::cl::desc(
          "One line, or one node of a picture, for all equal ones of "
          "a policy; a picture of many operations has that "
          "unless this is false"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> locations{
      "locations", llvm::cl::desc("Say where operations are in the source"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> memoryBudget{
      "memory-budget",
      llvm::cl::desc("Memory that a training step has, such as 11GB, 8GiB or "
                     "8G, which is 8GiB; "
                     "the report says what the largest batch is for it"),
      llvm::cl::value_desc("bytes"), llvm::cl::cat(category)};
  llvm::cl::opt<Optimizer, false, NamedParser<Optimizer>> optimizer{
      "optimizer", llvm::cl::desc("What the optimizer keeps for each weight"),
      llvm::cl::values(
          clEnumValN(Optimizer::none, "none", "Nothing (default)"),
          clEnumValN(Optimizer::sgd, "sgd", "Nothing"),
          clEnumValN(Optimizer::momentum, "momentum", "One number"),
          clEnumValN(Optimizer::adam, "adam", "Two numbers")),
      llvm::cl::init(Optimizer::none), llvm::cl::cat(category)};
  llvm::cl::opt<uint64_t> batch{
      "batch",
      llvm::cl::desc("Samples that a function of fixed sizes takes; default: "
                     "1"),
      llvm::cl::value_desc("N"), llvm::cl::init(1), llvm::cl::cat(category)};
};
} // namespace

static bool isGiven(const llvm::cl::Option &option) {
  return option.getNumOccurrences() != 0;
}

/// Prints an error for options that have no effect beside the others.
static LogicalResult checkOptions(const CommandLine &commandLine) {
  Format format = commandLine.format;
  bool isReport = format == Format::table || format == Format::json;
  const llvm::cl::Option *reportOptions[] = {
      &commandLine.memoryBudget, &commandLine.optimizer, &commandLine.batch};
  for (const llvm::cl::Option *option : reportOptions)
    if (isGiven(*option) && !isReport)
      return printError("--" + option->ArgStr +
                        " is for --format=table and --format=json");
  if (commandLine.locations && format != Format::table)
    return printError("--locations is for --format=table");
  if (commandLine.group && format != Format::table && format != Format::dot)
    return printError("--group is for --format=table and --format=dot");
  if (isGiven(commandLine.batch) && !isGiven(commandLine.memoryBudget))
    return printError("--batch is for the largest batch; add --memory-budget");
  bool hasAutomatic =
      commandLine.policies.empty() ||
      llvm::is_contained(commandLine.policies, Policy::automatic);
  if (format == Format::curve &&
      (!hasAutomatic || commandLine.policies.size() > 1))
    return printError("the curve is of the policy auto; leave out --policy");
  if (format == Format::curve && isGiven(commandLine.request.peakBudget))
    return printError("the curve is of residuals; leave out --peak-budget");
  if (format == Format::curve && isGiven(commandLine.request.residualBudget))
    return printError(
        "the curve is of all budgets; leave out --residual-budget");
  for (const llvm::cl::Option &option : commandLine.request.automatic)
    if (isGiven(option) && !hasAutomatic)
      return printError("--" + option.ArgStr + " is for --policy=auto");
  return success();
}

/// The request of the command line, or an error.
static FailureOr<ReportRequest> makeRequest(const CommandLine &commandLine) {
  ReportRequest request;
  if (!commandLine.policies.empty())
    request.policies = SmallVector<Policy>(commandLine.policies.begin(),
                                           commandLine.policies.end());
  request.entry = commandLine.request.entry;
  llvm::append_range(request.wrt, commandLine.request.wrt);
  llvm::append_range(request.results, commandLine.request.results);
  request.selection = commandLine.request.getSelection();
  request.hasAssumedSize = commandLine.request.assumedSize.getNumOccurrences();
  if (commandLine.size.getNumOccurrences())
    request.sizes.others = commandLine.size;
  request.optimizer = commandLine.optimizer;
  request.batch = commandLine.batch;
  if (request.batch == 0)
    return printError("--batch is 0; give a number of samples of at least 1");
  if (commandLine.memoryBudget.getNumOccurrences()) {
    request.memoryBudget = parseBytes(commandLine.memoryBudget);
    if (!request.memoryBudget)
      return printError("--memory-budget is '" + commandLine.memoryBudget +
                        "', " + explainBytes(commandLine.memoryBudget));
  }
  bool isPicture = commandLine.format == Format::dot;
  if (isPicture && isGiven(commandLine.group))
    request.summarizePicture = commandLine.group;
  if (isPicture && commandLine.policies.empty())
    request.policies = {Policy::automatic};
  if (isPicture && request.policies.size() != 1)
    return printError("a picture is of one policy; give one --policy");
  return request;
}

/// Prints the report on `module` in the requested form, or emits an error.
static LogicalResult printReport(ModuleOp module, const ReportRequest &request,
                                 const CommandLine &commandLine,
                                 llvm::raw_ostream &os) {
  Format format = commandLine.format;
  if (format == Format::dot)
    return drawResiduals(module, request, os);
  if (format == Format::curve) {
    FailureOr<TimeMemoryCurve> curve = measureCurve(module, request);
    if (succeeded(curve))
      curve->print(os);
    return success(succeeded(curve));
  }
  FailureOr<MemoryReport> report = reportMemory(module, request);
  if (failed(report))
    return failure();
  if (format == Format::json) {
    report->printJSON(os);
    return success();
  }
  EscapingStream escaped(os);
  report->printTable(escaped, {commandLine.group, commandLine.locations});
  return success();
}

/// Reports on `module` to the output file, which is not touched after an error.
static LogicalResult writeReport(ModuleOp module, const ReportRequest &request,
                                 const CommandLine &commandLine) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (failed(printReport(module, request, commandLine, os)))
    return failure();
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(commandLine.output, &error);
  if (!output)
    return printError(error);
  output->os() << text;
  output->keep();
  return success();
}

int fad_memory_report_main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  initTool();
  CommandLine commandLine;
  llvm::cl::HideUnrelatedOptions(commandLine.category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "What crosses from the forward to the backward function, by policy\n");

  if (failed(checkOptions(commandLine)))
    return EXIT_FAILURE;
  FailureOr<ReportRequest> request = makeRequest(commandLine);
  if (failed(request))
    return EXIT_FAILURE;
  DialectRegistry registry;
  registerToolDialects(registry);
  LogicalResult result =
      runOnFile(commandLine.input, registry, [&](ModuleOp module) {
        return writeReport(module, *request, commandLine);
      });
  return succeeded(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}
