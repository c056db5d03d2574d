//===- CUDAToolkit.h - Where NVIDIA's libdevice is --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_CUDATOOLKIT_H
#define FAD_CODEGEN_CUDATOOLKIT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::fad {

/// The file of libdevice in the directory `toolkit`, or nothing.
std::optional<std::string> findLibdevice(llvm::StringRef toolkit);

/// The first toolkit with libdevice among: CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda*, /usr/lib/cuda, /opt/cuda, the directory above that of an
/// `nvcc` on the PATH, and the directories of NVIDIA's PyPI packages for the
/// `python3` on the PATH.
std::optional<std::string> findCUDAToolkit();

} // namespace mlir::fad

#endif // FAD_CODEGEN_CUDATOOLKIT_H
