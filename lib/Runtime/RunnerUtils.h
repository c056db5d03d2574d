//===- RunnerUtils.h - Functions of MLIR for compiled code ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_RUNNERUTILS_H
#define FAD_LIB_RUNTIME_RUNNERUTILS_H

#include "mlir/ExecutionEngine/CRunnerUtils.h"

// MLIR's lowerings call functions of its runner libraries, which need MLIR as
// shared libraries. A fad that has MLIR linked in runs without those.
namespace mlir::fad {

/// Copies the elements, of `elementSize` bytes, of `source` to `target`, which
/// has the same sizes. `memrefCopy` in compiled code, for memrefs with gaps.
void copyMemRef(int64_t elementSize, ::UnrankedMemRefType<char> *source,
                ::UnrankedMemRefType<char> *target);

/// Round to the nearest bf16, to the even one of two. The 16 bits are returned
/// as the low ones of a float, which is where both x86-64 and AArch64 have a
/// result of type bf16. `__truncsfbf2` and `__truncdfbf2` in compiled code.
float truncateToBF16(float value);
float truncateToBF16(double value);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_RUNNERUTILS_H
