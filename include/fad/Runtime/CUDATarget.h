//===- CUDATarget.h - Compiled code on an NVIDIA GPU ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_CUDATARGET_H
#define FAD_RUNTIME_CUDATARGET_H

#include "llvm/Support/Error.h"
#include <string>

namespace mlir::fad {

/// The newest architecture, such as "sm_90", whose code a device of the given
/// compute capability is known to run. Fails for one that is older than kernels
/// require.
llvm::Expected<std::string> chooseCUDAChip(int major, int minor);

/// Prepares the first device for compiled code, and allocates all buffers in
/// memory that it and the host reach. Required before the first buffer. Returns
/// the newest architecture that the device is known to run, such as "sm_90".
/// Fails, with the reason, without a driver or device, or on a device that is
/// older than kernels require.
llvm::Expected<std::string> useCUDA();

/// Fails if an operation on the device failed since the last call; the runtime
/// has printed the error.
llvm::Error takeCUDAError();

} // namespace mlir::fad

#endif // FAD_RUNTIME_CUDATARGET_H
