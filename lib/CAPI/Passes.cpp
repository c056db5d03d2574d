//===- Passes.cpp - C API of the passes and pipelines ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad-c/Passes.h"
#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Transforms/Passes.h"
#include "mlir/CAPI/Pass.h"

using namespace mlir::fad;

#include "fad/Codegen/Passes.capi.cpp.inc"
#include "fad/Transforms/Passes.capi.cpp.inc"

void fadRegisterAllPasses(void) {
  registerFadCodegenPasses();
  registerFadTransformsPasses();
  registerPipelines();
}
