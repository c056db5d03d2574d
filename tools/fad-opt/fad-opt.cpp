//===- fad-opt.cpp - Runs fad and upstream passes on MLIR files -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/EscapingStream.h"
#include "../Common/InitTool.h"
#include "../Common/Mains.h"
#include "../Common/ToolInput.h"
#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/Passes.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "fad/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef FAD_INCLUDE_TESTS
#include "TestPasses.h"
#endif

using namespace mlir;

/// Errors are not followed by their operation, which may be the whole module,
/// unless that is asked for.
static void leaveOutOperations() {
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option && !option->getNumOccurrences())
    option->addOccurrence(/*pos=*/0, option->ArgStr, "false");
}

int fad_opt_main(int argc, char **argv) {
  fad::initTool();
  DialectRegistry registry;
  fad::registerToolDialects(registry);
  fad::registerTransformOps(registry);
  registerAllPasses();
  fad::registerFadCodegenPasses();
  fad::registerFadTransformsPasses();
  fad::registerFadRuntimePasses();
  fad::registerPipelines();

#ifdef FAD_INCLUDE_TESTS
  fad::test::registerTestRulesDialect(registry);
  fad::test::registerTestPasses();
#endif
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "fad optimizer driver\n", registry);
  leaveOutOperations();
  if (fad::isDevice(input)) {
    fad::escapedErrors() << fad::explainDevice(input) << "\n";
    return EXIT_FAILURE;
  }
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}
