//===- fad-opt.cpp - Runs fad and upstream passes on MLIR files -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/EscapingStream.h"
#include "../Common/FatalErrors.h"
#include "../Common/ToolInput.h"
#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Rules/Rules.h"
#include "fad/Runtime/Passes.h"
#include "fad/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"

#ifdef FAD_INCLUDE_TESTS
#include "TestPasses.h"
#endif

using namespace mlir;

namespace {
/// Verifies what the passes before it have made.
struct VerifyOutput : PassWrapper<VerifyOutput, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyOutput)

  StringRef getArgument() const override { return "fad-verify-output"; }
  StringRef getDescription() const override {
    return "Verify the result of the passes before this one";
  }
  void runOnOperation() override {
    if (failed(verify(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

/// Whether it is upstream's option that says when to verify: where it is given,
/// and with FAD_VERIFY_EACH in the environment, as in all tests.
static bool setsVerifyEach() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto it = options.find("verify-each");
  return (it != options.end() && it->second->getNumOccurrences() != 0) ||
         llvm::sys::Process::GetEnv("FAD_VERIFY_EACH");
}

/// Lets printing skip the verification of what was verified just before, unless
/// IR is printed elsewhere too.
static void assumeOutputVerified() {
  auto &options = llvm::cl::getRegisteredOptions();
  for (auto &[name, option] : options)
    if (name.starts_with("mlir-print-ir") && option->getNumOccurrences() != 0)
      return;
  auto it = options.find("mlir-print-assume-verified");
  if (it != options.end())
    it->second->addOccurrence(0, it->first, "true");
}

/// Runs passes with one verification, at the end: one after each pass takes
/// half the time of the passes.
static LogicalResult runVerifyingOutput(StringRef input, StringRef output,
                                        DialectRegistry &registry,
                                        MlirOptMainConfig config) {
  MlirOptMainConfig given = config;
  config.verifyPasses(false);
  assumeOutputVerified();
  config.setPassPipelineSetupFn([given](PassManager &pm) {
    if (failed(given.setupPassPipeline(pm)))
      return failure();
    pm.addPass(std::make_unique<VerifyOutput>());
    return success();
  });

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file) {
    fad::escapedErrors() << error << "\n";
    return failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> out = openOutputFile(output, &error);
  if (!out) {
    fad::escapedErrors() << error << "\n";
    return failure();
  }
  if (failed(MlirOptMain(out->os(), std::move(file), registry, config)))
    return failure();
  out->keep();
  return success();
}

int main(int argc, char **argv) {
  fad::reportFatalErrors();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fad::FadDialect>();
  fad::registerAllRules(registry);

  registerAllPasses();
  fad::registerFadCodegenPasses();
  fad::registerFadTransformsPasses();
  fad::registerFadRuntimePasses();
  fad::registerPipelines();

#ifdef FAD_INCLUDE_TESTS
  fad::test::registerTestRulesDialect(registry);
  fad::test::registerTestPasses();
#endif
  PassRegistration<VerifyOutput>();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "fad optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (fad::isDevice(input)) {
    fad::escapedErrors() << fad::explainDevice(input) << "\n";
    return EXIT_FAILURE;
  }
  // What prints a list and exits, or runs no pass, is upstream's alone.
  if (setsVerifyEach() || config.shouldShowDialects() ||
      config.shouldListPasses() || config.shouldRunReproducer())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(runVerifyingOutput(input, output, registry, config));
}
