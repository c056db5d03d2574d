//===- fad-plugin.cpp - fad as a plugin of mlir-opt -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Rules/Rules.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/Compiler.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "fad", FAD_VERSION,
          [](DialectRegistry *registry) {
            registry->insert<fad::FadDialect>();
            fad::registerAllRules(*registry);
            fad::registerTransformOps(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "fad", FAD_VERSION, []() {
            fad::registerFadCodegenPasses();
            fad::registerFadTransformsPasses();
            fad::registerPipelines();
          }};
}
