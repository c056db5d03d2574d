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

/// Makes the folder `path`, if it does not exist. Fails if no file can be
/// written to it.
llvm::Error prepareFolder(StringRef path);

/// Writes each tensor to a `.npy` file in the folder `path`, or none.
llvm::Error writeTensors(StringRef path, ArrayRef<NamedTensor> tensors);

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_OUTPUTFOLDER_H
