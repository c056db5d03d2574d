//===- MemoryStatistics.cpp - Memory, measured and estimated --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryStatistics.h"
#include "fad/Pipelines/NestedPair.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Estimate
//===----------------------------------------------------------------------===//

static LogicalResult lowerToLinalg(ModuleOp module) {
  PassManager pm(module.getContext());
  buildToLinalgPipeline(pm, /*checkShapes=*/false);
  return pm.run(module);
}

/// The size of `symbol` for `arguments`. Sizes that do not depend on arguments
/// are unknown before the program runs.
static uint64_t getSize(const SizeSymbols::Symbol &symbol,
                        ArrayRef<HostTensor> arguments, uint64_t assumed) {
  if (!symbol.argumentDim)
    return assumed;
  auto [argument, dim] = *symbol.argumentDim;
  return arguments[argument].getShape()[dim];
}

FailureOr<PeakEstimate> fad::estimateMemory(ModuleOp module,
                                            const NestOptions &options,
                                            ArrayRef<HostTensor> arguments) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<NestedPair> pair = NestedPair::create(*copy, options);
  if (failed(pair) || failed(lowerToLinalg(*copy)))
    return failure();
  auto sizeOf = [&](const SizeSymbols::Symbol &symbol) {
    return getSize(symbol, arguments, options.assumedSize);
  };
  return estimatePeak(pair->forward, pair->backward, sizeOf,
                      options.reuseResiduals);
}

FailureOr<PeakEstimate> fad::estimateMemory(ModuleOp module, StringRef name,
                                            ArrayRef<HostTensor> arguments) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(lowerToLinalg(*copy)))
    return failure();
  auto sizeOf = [&](const SizeSymbols::Symbol &symbol) {
    return getSize(symbol, arguments, NestOptions().assumedSize);
  };
  return estimatePeak(copy->lookupSymbol<func::FuncOp>(name), sizeOf);
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

/// The bytes of those of `tensors` that are not in `counted`, and adds them to
/// it.
static uint64_t countBytes(ArrayRef<HostTensor> tensors,
                           DenseSet<void *> &counted) {
  uint64_t bytes = 0;
  for (const HostTensor &tensor : tensors)
    if (counted.insert(tensor.data()).second)
      bytes += tensor.getNumBytes();
  return bytes;
}

void MemoryMeasurement::addForward(ArrayRef<HostTensor> arguments,
                                   const ForwardResults &forward,
                                   const CallMemory &memory) {
  DenseSet<void *> counted;
  measured.arguments = countBytes(arguments, counted);
  measured.results = countBytes(forward.results, counted);
  measured.kept = countBytes(forward.residuals, counted);
  measured.forward = {uint64_t(memory.peakBytes), uint64_t(memory.allocations)};
}

void MemoryMeasurement::addBackward(ArrayRef<HostTensor> cotangents,
                                    ArrayRef<Gradient> gradients,
                                    const CallMemory &memory) {
  DenseSet<void *> counted, countedGradients;
  measured.cotangents = countBytes(cotangents, counted);
  for (const Gradient &gradient : gradients)
    measured.gradients += countBytes(gradient.value, countedGradients);
  measured.backward = {measured.kept + memory.peakBytes,
                       uint64_t(memory.allocations)};
}
