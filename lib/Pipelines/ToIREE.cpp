//===- ToIREE.cpp - The fad-to-iree pipeline ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fad;

void fad::buildToIREEPipeline(OpPassManager &pm) {
  pm.addPass(createFadCheckSizes());
  pm.addNestedPass<func::FuncOp>(createFadHoistRecomputation());
  // IREE would run each step of a loop on tensors as separate kernels.
  FadToLinalgOptions options;
  options.scatterAsReductions = true;
  pm.addPass(createFadToLinalg(options));
  // A value and its derivative share common subexpressions.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Matmuls are fast in IREE; convolutions are fast if they are named.
  pm.addNestedPass<func::FuncOp>(createFadIm2col());
  pm.addPass(createFadLegalizeForIREE());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createFadCheckSizes());
}
