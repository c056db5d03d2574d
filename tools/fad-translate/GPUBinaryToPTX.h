//===- GPUBinaryToPTX.h - Print the PTX of a gpu.binary ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FAD_TRANSLATE_GPUBINARYTOPTX_H
#define FAD_TOOLS_FAD_TRANSLATE_GPUBINARYTOPTX_H

namespace mlir::fad {

/// Registers `--gpu-binary-to-ptx`.
void registerGPUBinaryToPTX();

} // namespace mlir::fad

#endif // FAD_TOOLS_FAD_TRANSLATE_GPUBINARYTOPTX_H
