//===- Image.h - Kinds of code for a module ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CUDARUNTIME_IMAGE_H
#define FAD_LIB_CUDARUNTIME_IMAGE_H

#include <cstddef>
#include <string>

namespace fad::cuda {
enum class ImageKind { Ptx, Binary, Invalid };

/// The kind of an image of `size` bytes: PTX, or a complete cubin or fatbin.
/// The driver does not know the size and relies on completeness. For an invalid
/// image, `reason` is the error.
ImageKind classifyImage(const void *image, size_t size, std::string &reason);
} // namespace fad::cuda

#endif // FAD_LIB_CUDARUNTIME_IMAGE_H
