//===- fad-runner.cpp - Runs functions on tensors, and their gradients ----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/EscapingStream.h"
#include "../Common/Mains.h"
#include "../Common/Tool.h"
#include "Arguments.h"
#include "CommandLine.h"
#include "Report.h"
#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/NestedPair.h"
#include "fad/Runtime/CUDATarget.h"
#include "fad/Runtime/Memory.h"
#include "fad/Runtime/Preconditions.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/InitLLVM.h"
#include <chrono>

using namespace mlir;
using namespace mlir::fad;
namespace cl = llvm::cl;

/// Reports an error that has no place in the input file.
static LogicalResult fail(llvm::Error error) {
  return printError(llvm::toString(std::move(error)));
}

namespace {
/// One run of the tool.
class Runner {
public:
  Runner(ModuleOp module, const CommandLine &commandLine)
      : module(module), commandLine(commandLine) {}

  LogicalResult run();

private:
  LogicalResult checkOptions();
  LogicalResult prepareTarget();
  LogicalResult prepare();
  LogicalResult runFunction();
  LogicalResult runNested();
  /// Calls forward and backward.
  LogicalResult callNested(const NestedFunction &nested,
                           SmallVector<HostTensor> &cotangents,
                           SmallVector<Gradient> &gradients);
  LogicalResult compareGradients(const NestOptions &options,
                                 const NestedFunction &nested,
                                 ArrayRef<HostTensor> cotangents,
                                 ArrayRef<Gradient> gradients);
  /// Estimates the memory of the pair that `options` make of the entry or,
  /// without options, of the entry itself, after the lowering to linalg.
  LogicalResult estimateMemory(const NestOptions *options);
  /// Adds the measured memory of a call.
  void addForward(const ForwardResults &forward, const CallMemory &memory);
  void addBackward(ArrayRef<HostTensor> cotangents,
                   ArrayRef<Gradient> gradients, const CallMemory &memory);
  llvm::Error writeStatistics() const;
  /// Prints and writes the results of a run.
  LogicalResult finish();

  ModuleOp module;
  const CommandLine &commandLine;
  CompileOptions target;
  func::FuncOp entry;
  /// The entry on its own.
  OwningOpRef<ModuleOp> extracted;
  SmallVector<HostTensor> arguments;
  SmallVector<NamedTensor> computed;
  RunStatistics statistics;
};
} // namespace

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

static double getSeconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// The result of `call`, and in `seconds` the least time of several calls: the
/// first ones meet cold memory.
template <typename Call>
static auto measure(bool repeat, double &seconds, const Call &call) {
  constexpr unsigned maxCalls = 10;
  constexpr double maxSeconds = 0.5;
  double start = getSeconds();
  auto result = call();
  seconds = getSeconds() - start;
  if (!repeat || !result)
    return result;
  for (unsigned calls = 1;
       calls < maxCalls && getSeconds() - start < maxSeconds; ++calls) {
    double begin = getSeconds();
    auto again = call();
    double taken = getSeconds() - begin;
    if (!again) {
      llvm::consumeError(again.takeError());
      break;
    }
    seconds = std::min(seconds, taken);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

LogicalResult Runner::checkOptions() {
  const fad::RequestOptions &request = commandLine.request;
  SmallVector<std::reference_wrapper<const cl::Option>> gradientOptions = {
      request.wrt, request.results, commandLine.cotangents,
      request.reuseResiduals};
  llvm::append_range(gradientOptions, request.automatic);
  for (const cl::Option &option : gradientOptions)
    if (option.getNumOccurrences() && !commandLine.isNested())
      return printError("--" + option.ArgStr +
                        " is for gradients; add --policy");
  for (const cl::Option &option : request.automatic)
    if (option.getNumOccurrences() && request.policy != Policy::automatic)
      return printError("--" + option.ArgStr + " is for --policy=auto");
  if (commandLine.out.getNumOccurrences() && commandLine.out.empty())
    return printError("--out= names no folder");
  if (commandLine.size > uint64_t(std::numeric_limits<int64_t>::max()))
    return printError("--size=" + Twine(commandLine.size) + " is too large");
  return success();
}

LogicalResult Runner::prepareTarget() {
  target.contractions = commandLine.contractions;
  if (commandLine.target == CommandLine::Target::cpu)
    return success();
  llvm::Expected<std::string> chip = useCUDA();
  if (!chip)
    return printError("cannot run on a GPU: " +
                      llvm::toString(chip.takeError()));
  target.cudaChip = *chip;
  return success();
}

LogicalResult Runner::prepare() {
  FailureOr<func::FuncOp> found = findEntry(module, commandLine.request.entry);
  if (failed(found) || failed(checkSignature(*found)))
    return failure();
  entry = *found;
  bool isJoint = JointFunction::isJoint(entry);
  if (isJoint && commandLine.checkGradients)
    return entry.emitError("@")
           << entry.getSymName()
           << " is differentiated already; --check-gradients is for functions "
              "that fad differentiates";
  if (commandLine.isNested() && !isJoint &&
      (failed(resolveWrt(entry, commandLine.request.wrt)) ||
       failed(resolveResults(entry, commandLine.request.results))))
    return failure();
  std::optional<int64_t> size;
  if (commandLine.size.getNumOccurrences())
    size = commandLine.size;
  auto made = makeArguments(entry, commandLine.arguments, size);
  if (failed(made))
    return failure();
  arguments = std::move(*made);
  if (!commandLine.out.empty())
    if (llvm::Error error = prepareFolder(commandLine.out))
      return fail(std::move(error));
  auto alone = extractFunction(entry);
  if (failed(alone))
    return failure();
  extracted = std::move(*alone);
  if (failed(checkPreconditions(*extracted, arguments)))
    return failure();
  // Forward takes no cotangents.
  if (isJoint && commandLine.isNested())
    for (unsigned index = entry.getNumArguments(); index-- > 0;)
      if (entry.getArgAttr(index, FadDialect::kCotangentAttr))
        arguments.erase(arguments.begin() + index);
  eraseAssertions(*extracted);
  return success();
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

LogicalResult Runner::estimateMemory(const NestOptions *options) {
  if (!commandLine.wantsStatistics())
    return success();
  OwningOpRef<ModuleOp> copy = extracted->clone();
  NestedPair pair;
  if (options) {
    FailureOr<NestedPair> made = NestedPair::create(*copy, *options);
    if (failed(made))
      return failure();
    pair = *made;
  }
  PassManager pm(copy->getContext());
  ToCPUOptions pipeline;
  if (failed(setContractions(pipeline, target.contractions, *copy)))
    return failure();
  buildToLinalgPipeline(pm, pipeline);
  if (failed(pm.run(*copy)))
    return failure();
  NestOptions defaults;
  uint64_t assumed = (options ? options : &defaults)->assumedSize;
  auto sizeOf = [&](const SizeSymbols::Symbol &symbol) -> uint64_t {
    // Other sizes are unknown before the program runs.
    if (!symbol.argumentDim)
      return assumed;
    auto [argument, dim] = *symbol.argumentDim;
    return arguments[argument].getShape()[dim];
  };
  auto estimated =
      options
          ? estimatePeak(pair.forward, pair.backward, sizeOf,
                         options->reuseResiduals)
          : estimatePeak(copy->lookupSymbol<func::FuncOp>(entry.getSymName()),
                         sizeOf);
  if (failed(estimated))
    return failure();
  statistics.estimated = *estimated;
  return success();
}

/// The bytes of those of `tensors` that are not in `counted`, and adds them to
/// it.
static uint64_t countBytes(ArrayRef<HostTensor> tensors,
                           DenseSet<void *> &counted) {
  uint64_t bytes = 0;
  for (const HostTensor &tensor : tensors)
    if (counted.insert(tensor.data()).second)
      bytes += tensor.getNumBytes();
  return bytes;
}

void Runner::addForward(const ForwardResults &forward,
                        const CallMemory &memory) {
  for (auto [index, result] : llvm::enumerate(forward.results))
    computed.push_back({"out" + std::to_string(index), result});
  DenseSet<void *> counted;
  PeakEstimate &measured = statistics.measured;
  measured.arguments = countBytes(arguments, counted);
  measured.results = countBytes(forward.results, counted);
  measured.kept = countBytes(forward.residuals, counted);
  measured.forward = {uint64_t(memory.peakBytes), uint64_t(memory.allocations)};
  statistics.peakTensorBytes = getPeakBufferBytes();
}

void Runner::addBackward(ArrayRef<HostTensor> cotangents,
                         ArrayRef<Gradient> gradients,
                         const CallMemory &memory) {
  DenseSet<void *> counted, countedGradients;
  PeakEstimate &measured = statistics.measured;
  measured.cotangents = countBytes(cotangents, counted);
  for (const Gradient &gradient : gradients) {
    measured.gradients += countBytes(gradient.value, countedGradients);
    computed.push_back(
        {"grad" + std::to_string(gradient.argument), gradient.value});
  }
  measured.backward = {measured.kept + memory.peakBytes,
                       uint64_t(memory.allocations)};
  statistics.peakTensorBytes =
      std::max<int64_t>(statistics.peakTensorBytes, getPeakBufferBytes());
}

llvm::Error Runner::writeStatistics() const {
  std::error_code code;
  StringRef name = commandLine.statisticsFile;
  llvm::raw_fd_ostream os(name, code);
  if (!code) {
    printStatisticsJSON(os, statistics);
    os.flush();
    code = os.error();
    os.clear_error();
  }
  if (!code)
    return llvm::Error::success();
  return llvm::createStringError(code, "cannot write '" + name +
                                           "': " + code.message());
}

LogicalResult Runner::finish() {
  printTensors(llvm::outs(), computed);
  if (commandLine.statistics)
    printStatistics(llvm::outs(), statistics);
  if (commandLine.statisticsFile.getNumOccurrences())
    if (llvm::Error error = writeStatistics())
      return fail(std::move(error));
  if (!commandLine.out.empty())
    if (llvm::Error error = writeTensors(commandLine.out, computed))
      return fail(std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

LogicalResult Runner::runFunction() {
  if (failed(estimateMemory(/*options=*/nullptr)))
    return failure();
  double start = getSeconds();
  FailureOr<CompiledModule> compiled =
      CompiledModule::compile(*extracted, target);
  if (failed(compiled))
    return failure();
  statistics.compile = getSeconds() - start;
  resetPeakBufferBytes();
  CallMemory memory;
  auto results =
      measure(commandLine.wantsStatistics(), statistics.forward, [&] {
        return compiled->call(entry.getSymName(), arguments, &memory);
      });
  if (!results)
    return fail(results.takeError());
  addForward({std::move(*results), {}}, memory);
  return finish();
}

LogicalResult Runner::runNested() {
  NestOptions options;
  options.copyOptionValuesFrom(commandLine.request);
  if (!target.cudaChip.empty())
    options.target = fad::Target::gpu;
  if (failed(estimateMemory(&options)))
    return failure();
  double start = getSeconds();
  OwningOpRef<ModuleOp> copy = extracted->clone();
  FailureOr<NestedFunction> nested =
      NestedFunction::compile(*copy, options, target);
  if (failed(nested))
    return failure();
  statistics.compile = getSeconds() - start;

  SmallVector<HostTensor> cotangents;
  SmallVector<Gradient> gradients;
  if (failed(callNested(*nested, cotangents, gradients)) || failed(finish()))
    return failure();
  if (!commandLine.checkGradients)
    return success();
  return compareGradients(options, *nested, cotangents, gradients);
}

LogicalResult Runner::callNested(const NestedFunction &nested,
                                 SmallVector<HostTensor> &cotangents,
                                 SmallVector<Gradient> &gradients) {
  resetPeakBufferBytes();
  CallMemory memory;
  auto forward = measure(commandLine.wantsStatistics(), statistics.forward,
                         [&] { return nested.forward(arguments, &memory); });
  if (!forward)
    return fail(forward.takeError());
  addForward(*forward, memory);
  auto made = makeCotangents(entry, commandLine.cotangents,
                             nested.getCotangentResults(), forward->results);
  if (failed(made))
    return failure();
  cotangents = std::move(*made);

  // Residuals that backward overwrites are good for one call.
  bool repeat =
      commandLine.wantsStatistics() && !commandLine.request.reuseResiduals;
  auto called = measure(repeat, statistics.backward.emplace(), [&] {
    return nested.backward(repeat ? *forward : std::move(*forward), cotangents,
                           &memory);
  });
  if (!called)
    return fail(called.takeError());
  addBackward(cotangents, *called, memory);
  gradients = std::move(*called);
  return success();
}

LogicalResult Runner::compareGradients(const NestOptions &options,
                                       const NestedFunction &nested,
                                       ArrayRef<HostTensor> cotangents,
                                       ArrayRef<Gradient> gradients) {
  auto checks = checkGradients(*extracted, options,
                               target.cudaChip.empty() ? &nested : nullptr,
                               arguments, cotangents, gradients);
  if (failed(checks))
    return failure();
  printChecks(llvm::outs(), options.policy, *checks);
  return success(llvm::all_of(
      *checks, [](const GradientCheck &check) { return check.passes(); }));
}

LogicalResult Runner::run() {
  if (failed(checkOptions()) || failed(prepareTarget()) || failed(prepare()))
    return failure();
  return commandLine.isNested() ? runNested() : runFunction();
}

int fad_runner_main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  initTool();
  // LLVM has options of the same name, for statistics that release builds do
  // not collect.
  for (StringRef name : {"stats", "stats-json"})
    if (cl::Option *option = cl::getRegisteredOptions().lookup(name))
      option->removeArgument();
  CommandLine commandLine;
  cl::HideUnrelatedOptions(commandLine.category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a function on tensors and, given a policy, its gradients\n");

  DialectRegistry registry;
  registerToolDialects(registry);
  registerRuntimeExtensions(registry);
  LogicalResult result =
      runOnFile(commandLine.input, registry, [&](ModuleOp module) {
        return Runner(module, commandLine).run();
      });
  return succeeded(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}
