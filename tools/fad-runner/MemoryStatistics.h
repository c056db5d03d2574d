//===- MemoryStatistics.h - Memory, measured and estimated ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FADRUNNER_MEMORYSTATISTICS_H
#define FAD_TOOLS_FADRUNNER_MEMORYSTATISTICS_H

#include "fad/Analysis/PeakMemory.h"
#include "fad/Runtime/NestedFunction.h"

namespace mlir::fad {

/// The estimated memory, for `arguments`, of the pair that `options` make of
/// the entry of `module`, after the lowering to linalg. `module` stays as it
/// is.
FailureOr<PeakEstimate> estimateMemory(ModuleOp module,
                                       const NestOptions &options,
                                       ArrayRef<HostTensor> arguments);

/// The same for the function of that name on its own.
FailureOr<PeakEstimate> estimateMemory(ModuleOp module, StringRef name,
                                       ArrayRef<HostTensor> arguments);

/// Collects the measured memory of a run.
class MemoryMeasurement {
public:
  void addForward(ArrayRef<HostTensor> arguments, const ForwardResults &forward,
                  const CallMemory &memory);
  void addBackward(ArrayRef<HostTensor> cotangents,
                   ArrayRef<Gradient> gradients, const CallMemory &memory);
  const PeakEstimate &get() const { return measured; }

private:
  PeakEstimate measured;
};

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_MEMORYSTATISTICS_H
