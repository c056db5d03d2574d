//===- Context.cpp - An MLIR context for the modules of a program ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Rules/Rules.h"
#include "fad/Runtime/CompiledModule.h"
#include "fad/Runtime/Passes.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "fad/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

using namespace mlir;
using namespace mlir::fad::python;

static DialectRegistry createRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fad::FadDialect>();
  fad::registerAllRules(registry);
  fad::registerRuntimeExtensions(registry);
  fad::registerTransformOps(registry);
  // Pipelines are given by the names of passes.
  registerAllPasses();
  fad::registerFadCodegenPasses();
  fad::registerFadTransformsPasses();
  fad::registerFadRuntimePasses();
  fad::registerPipelines();
  return registry;
}

static const DialectRegistry &getRegistry() {
  static const DialectRegistry registry = createRegistry();
  return registry;
}

Context::Context() : context(getRegistry(), MLIRContext::Threading::DISABLED) {
  context.setThreadPool(executor);
  context.printOpOnDiagnostic(false);
}
