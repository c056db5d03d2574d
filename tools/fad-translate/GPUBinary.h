//===- GPUBinary.h - Print the contents of a gpu.binary ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FAD_TRANSLATE_GPUBINARY_H
#define FAD_TOOLS_FAD_TRANSLATE_GPUBINARY_H

namespace mlir::fad {

/// Registers `--gpu-binary-to-ptx` and `--gpu-binary-to-object`.
void registerGPUBinaryTranslations();

} // namespace mlir::fad

#endif // FAD_TOOLS_FAD_TRANSLATE_GPUBINARY_H
