//===- ToolPasses.cpp - The passes of fad-opt and fad-reduce --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/Passes.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "fad/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"

namespace mlir::fad::test {
/// Defined in programs that have the tests' parts.
LLVM_ATTRIBUTE_WEAK void registerTests(DialectRegistry &registry);
} // namespace mlir::fad::test

void mlir::fad::registerToolPasses(DialectRegistry &registry) {
  registerTransformOps(registry);
  registerAllPasses();
  registerFadCodegenPasses();
  registerFadTransformsPasses();
  registerFadRuntimePasses();
  registerPipelines();
  if (test::registerTests)
    test::registerTests(registry);
}
