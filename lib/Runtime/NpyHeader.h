//===- NpyHeader.h - Headers of .npy files ----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_NPYHEADER_H
#define FAD_LIB_RUNTIME_NPYHEADER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::fad {

/// The header of a `.npy` file: the dictionary in it.
struct NpyHeader {
  /// Byte order, kind and bytes of an element, such as `<f4`.
  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;
  /// The offset of the elements.
  size_t dataOffset = 0;
};

/// Parses the header of the file with the contents `file`.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef file);

/// The bytes of a file before its elements.
std::string formatNpyHeader(llvm::StringRef descr,
                            llvm::ArrayRef<int64_t> shape);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_NPYHEADER_H
