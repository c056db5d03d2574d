//===- ToCUDA.cpp - From tensors to the host and an NVIDIA GPU ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

// The header of this pass has the operations of LLVM's dialect, which take
// longer to compile than this folder.
namespace mlir {
#define GEN_PASS_DECL_GPUTOLLVMCONVERSIONPASS
#include "mlir/Conversion/Passes.h.inc"
} // namespace mlir

using namespace mlir;
using namespace mlir::fad;

void fad::buildToCUDAPipeline(OpPassManager &pm, const ToCUDAOptions &options) {
  pm.addPass(createFadCheckSizes());
  // Constants are copied for the kernels that read them, so calls must not hide
  // these.
  pm.addPass(createFadCheckCalls());
  pm.addPass(createInlinerPass());
  buildToLinalgPipeline(pm, options);
  // A kernel for each chain of elementwise operations: with the addition of a
  // bias, for example, before an activation.
  pm.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  addBufferize(pm, options.alignment);
  addKernels(pm, options);
  pm.addPass(createFadLaunchKernels());
  addKernelBinaries(pm, options);
  // Operations without a kernel run on the host.
  addLoops(pm, options.parallel, options.vectorBits);
  addScalars(pm, options.tiesAway);
  GpuToLLVMConversionPassOptions launches;
  launches.kernelBarePtrCallConv = true;
  pm.addPass(createGpuToLLVMConversionPass(launches));
  addToLLVM(pm, options.parallel);
}
