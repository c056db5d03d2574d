//===- ToNVVM.cpp - From tensors to PTX -----------------------------------===//
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
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fad;

void fad::addKernels(OpPassManager &pm, const ToNVVMOptions &options) {
  FadToGPUOptions kernels;
  kernels.chip = options.chip;
  kernels.blockSize = options.blockSize;
  kernels.accesses = options.accesses;
  pm.addPass(createFadToGPU(kernels));
}

void fad::addKernelBinaries(OpPassManager &pm, const ToNVVMOptions &options) {
  FadAttachNVVMTargetOptions target;
  target.chip = options.chip;
  target.features = options.features;
  pm.addPass(createFadAttachNVVMTarget(target));

  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  // The lanes of a vector share the values that do not depend on their
  // elements.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createFadApproximateGPUMath({options.contract}));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  // Before upstream's lowering, which would call libdevice for these too.
  kernels.addPass(createFadMathToPTX());
  kernels.addPass(createSCFToControlFlowPass());
  // The kernel interface is bare pointers. Numbers of type index, which tensors
  // may hold, keep their 64 bits.
  ConvertGpuOpsToNVVMOpsOptions lowering;
  lowering.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(lowering));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  // Drops unused parts of memref descriptors.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());

  FadKernelsToBinaryOptions binary;
  binary.toolkit = options.toolkit;
  binary.format = options.format;
  pm.addPass(createFadKernelsToBinary(binary));
}

void fad::buildToNVVMPipeline(OpPassManager &pm, const ToNVVMOptions &options) {
  pm.addPass(createFadCheckSizes());
  addKernels(pm, options);
  addKernelBinaries(pm, options);
}
