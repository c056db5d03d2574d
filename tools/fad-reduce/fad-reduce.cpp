//===- fad-reduce.cpp - Makes an input that shows a bug smaller -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/InitTool.h"
#include "../Common/Mains.h"
#include "../Common/ToolInput.h"
#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/Passes.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "fad/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

#ifdef FAD_INCLUDE_TESTS
#include "TestPasses.h"
#endif

using namespace mlir;

int fad_reduce_main(int argc, char **argv) {
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
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context));
}
