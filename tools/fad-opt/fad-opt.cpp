//===- fad-opt.cpp - Runs fad and upstream passes on MLIR files -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/EscapingStream.h"
#include "../Common/FatalErrors.h"
#include "../Common/Mains.h"
#include "../Common/ToolInput.h"
#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/Passes.h"
#include "fad/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef FAD_INCLUDE_TESTS
#include "TestPasses.h"
#endif

using namespace mlir;

int fad_opt_main(int argc, char **argv) {
  fad::reportFatalErrors();
  DialectRegistry registry;
  fad::registerToolDialects(registry);
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
  if (fad::isDevice(input)) {
    fad::escapedErrors() << fad::explainDevice(input) << "\n";
    return EXIT_FAILURE;
  }
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}
