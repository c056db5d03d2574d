//===- Stages.h - What pipelines have in common -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_STAGES_H
#define FAD_LIB_PIPELINES_STAGES_H

#include "fad/Transforms/Passes.h"
#include <cstdint>
#include <string>

namespace mlir::fad {

/// What `WithKernelOptions` has.
struct KernelOptions {
  template <typename OptionsT>
  explicit KernelOptions(const OptionsT &options)
      : chip(options.chip), features(options.features),
        toolkit(options.toolkit), format(options.format),
        blockSize(options.blockSize), accesses(options.accesses) {}

  std::string chip, features, toolkit, format;
  int64_t blockSize, accesses;
};

struct NestOptions;

/// To one function, of operations that rules cover.
void addPreparation(OpPassManager &pm, const NestOptions &options);

/// What elementwise regions are made of.
enum class RegionForm {
  /// Activations, also where several operations are one.
  activations,
  /// Operations as they were written.
  tape,
  /// The same, of which equal ones are one, and sizes are known where operands
  /// tell them.
  simplifiedTape,
};

/// From there to elementwise regions, ready to be differentiated.
void addRegions(OpPassManager &pm, RegionForm form);

/// From tensors to buffers, each of which is freed once. Results are owned by
/// the caller, have the identity layout, and are no two the same buffer.
void addBufferize(OpPassManager &pm, uint64_t alignment);

/// From linalg on buffers to loops and control flow.
void addLoops(OpPassManager &pm, bool parallel, int64_t vectorBits);

/// From scalar operations on any floating-point type to ones that LLVM
/// evaluates accurately.
void addScalars(OpPassManager &pm);

/// To the LLVM dialect.
void addToLLVM(OpPassManager &pm, bool parallel);

/// Kernels for elementwise operations.
void addKernels(OpPassManager &pm, const KernelOptions &options);

/// From kernels to a binary.
void addKernelBinaries(OpPassManager &pm, const KernelOptions &options);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_STAGES_H
