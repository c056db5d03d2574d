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

/// Prepares the first device for compiled code, and takes the memory of all
/// buffers from where both it and the host reach them. Called before there are
/// buffers. Returns the newest architecture that is known to run on it, such as
/// "sm_90". Fails, and says why, where there is no driver or no device, or an
/// older one than kernels take.
llvm::Expected<std::string> useCUDA();

/// Fails where something has gone wrong on the device since the last call; what
/// it was, the runtime has printed.
llvm::Error takeCUDAError();

} // namespace mlir::fad

#endif // FAD_RUNTIME_CUDATARGET_H
