//===- OutputFolder.h - Files written completely or not at all --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FADRUNNER_OUTPUTFOLDER_H
#define FAD_TOOLS_FADRUNNER_OUTPUTFOLDER_H

#include "fad/Runtime/HostTensor.h"

namespace mlir::fad {

/// A value and the name of its file, without extension.
struct NamedTensor {
  std::string name;
  HostTensor value;
};

/// A folder for `.npy` files.
class OutputFolder {
public:
  /// Makes the folder `path`, if it does not exist. Fails if no file can be
  /// written to it.
  static llvm::Expected<OutputFolder> create(StringRef path);

  /// Writes each tensor to a file, or none.
  llvm::Error write(ArrayRef<NamedTensor> tensors) const;

private:
  explicit OutputFolder(StringRef path) : path(path) {}
  /// The file of `tensor`.
  std::string getName(const NamedTensor &tensor) const;

  std::string path;
};

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_OUTPUTFOLDER_H
