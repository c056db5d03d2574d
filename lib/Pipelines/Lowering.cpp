//===- Lowering.cpp - From tensors to code --------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Pipelines/Stages.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/OpenMPToLLVM/ConvertOpenMPToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/SCFToOpenMP/SCFToOpenMP.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <limits>

namespace mlir {
#define GEN_PASS_DECL_GPUTOLLVMCONVERSIONPASS
#include "mlir/Conversion/Passes.h.inc"
} // namespace mlir

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

/// The products from which on a convolution becomes a matmul. Below, windows
/// take longer than the loops that read them in place, as in all loops.
static int64_t getMinConvolution(Contractions contractions) {
  switch (contractions) {
  case Contractions::automatic:
    return 65536;
  case Contractions::library:
    return 0;
  case Contractions::loops:
    break;
  }
  return std::numeric_limits<int64_t>::max();
}

void fad::buildToLinalgPipeline(OpPassManager &pm,
                                const ToCPUOptions &options) {
  pm.addPass(createFadCheckSizes());
  pm.addNestedPass<func::FuncOp>(createFadSimplifySlices());
  pm.addNestedPass<func::FuncOp>(createFadNormalize());
  pm.addPass(createFadToLinalg());
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  if (options.checkShapes) {
    std::unique_ptr<Pass> verification =
        createGenerateRuntimeVerificationPass();
    // Messages with the location, not the text, of the operation. There is no
    // other way to reach the option.
    (void)verification->initializeOptions(
        "verbose-level=0", [](const Twine &) { return failure(); });
    pm.addPass(std::move(verification));
  }
  // Pairs of transposes fold before contractions add their own.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  SmallVector<std::string> types(options.contractionTypes.begin(),
                                 options.contractionTypes.end());
  pm.addNestedPass<func::FuncOp>(createFadIm2col(
      {/*named=*/true, getMinConvolution(options.contractions), types}));
  pm.addNestedPass<func::FuncOp>(
      createFadSelectContractions({options.contractions, types}));
  pm.addNestedPass<func::FuncOp>(createFadInterchangeContractions());
  pm.addNestedPass<func::FuncOp>(createFadFuseElementwise());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// From tensors to buffers, each of which is freed once. The caller owns the
/// results, which have the identity layout and do not alias. With
/// `resultsToArguments`, the caller passes their buffers.
static void addBufferize(OpPassManager &pm, uint64_t alignment,
                         bool resultsToArguments) {
  // Operations that others were lowered to make tensors of their own.
  pm.addPass(createFadCheckSizes());
  pm.addNestedPass<func::FuncOp>(createFadSimplifySlices());
  pm.addNestedPass<func::FuncOp>(createFadDropEmptySlices());
  pm.addNestedPass<func::FuncOp>(createFadPoisonToEmpty());
  pm.addPass(createFadSnapshotGlobals());
  pm.addPass(createFadCheckBufferization());
  pm.addNestedPass<func::FuncOp>(createFadReuseBuffers());
  pm.addNestedPass<func::FuncOp>(createFadProtectArguments());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferAlignment = alignment;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addNestedPass<func::FuncOp>(createFadMakeContiguous({alignment}));
  // Bufferization leaves loops that return the buffer which they update. This
  // removes that result, so that FadUnaliasResults sees whose buffer it is.
  pm.addPass(createCanonicalizerPass());
  if (resultsToArguments)
    pm.addPass(createFadResultsToArguments());
  pm.addNestedPass<func::FuncOp>(createFadUnaliasResults());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addNestedPass<func::FuncOp>(createFadFreeArguments());
  // Before this pass, buffers are freed where the function returns.
  pm.addNestedPass<func::FuncOp>(
      bufferization::createOptimizeAllocationLivenessPass());
  pm.addPass(createConvertBufferizationToMemRefPass());
}

/// From linalg on buffers to loops and control flow.
static void addLoops(OpPassManager &pm, bool parallel, int64_t vectorBits) {
  pm.addPass(createFadContractionsToCalls({parallel}));
  pm.addNestedPass<func::FuncOp>(
      createFadLinalgToLoops({parallel, vectorBits}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  if (parallel) {
    pm.addPass(createConvertSCFToOpenMPPass());
    // Empty scopes of allocations would keep loops from vectorizing.
    pm.addPass(createCanonicalizerPass());
  }
  pm.addNestedPass<func::FuncOp>(createFadExpandBuffers());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
}

/// From scalar operations on any floating-point type to ones that LLVM
/// evaluates accurately.
static void addScalars(OpPassManager &pm, bool tiesAway) {
  pm.addPass(math::createMathExtendToSupportedTypes());
  // bf16 is computed in f32 and rounded after each operation.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addPass(createFadKeepRoundings());
  pm.addPass(createFadApproximateMath({tiesAway}));
  pm.addPass(createFadMathToLibm());
}

/// To the LLVM dialect.
static void addToLLVM(OpPassManager &pm, bool parallel) {
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false;
  pm.addPass(createConvertMathToLLVMPass(math));
  if (parallel)
    pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addNestedPass<LLVM::LLVMFuncOp>(createFadMoveBF16AsInteger());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void fad::buildToCPUPipeline(OpPassManager &pm, const ToCPUOptions &options) {
  buildToLinalgPipeline(pm, options);
  addBufferize(pm, options.alignment, options.resultsToArguments);
  addLoops(pm, options.parallel, options.vectorBits);
  addScalars(pm, options.tiesAway);
  addToLLVM(pm, options.parallel);
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

/// Kernels for elementwise operations.
static void addKernels(OpPassManager &pm, const ToNVVMOptions &options) {
  FadToGPUOptions kernels;
  kernels.chip = options.chip;
  kernels.blockSize = options.blockSize;
  kernels.accesses = options.accesses;
  pm.addPass(createFadToGPU(kernels));
}

/// From kernels to a binary.
static void addKernelBinaries(OpPassManager &pm, const ToNVVMOptions &options) {
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
  addBufferize(pm, options.alignment, options.resultsToArguments);
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

//===----------------------------------------------------------------------===//
// IREE
//===----------------------------------------------------------------------===//

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
