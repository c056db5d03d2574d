//===- ToolInput.h - The module that a tool reads ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_TOOLINPUT_H
#define FAD_TOOLS_COMMON_TOOLINPUT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// Registers the dialects of LLVM's release and fad's own, with its rules.
void registerToolDialects(DialectRegistry &registry);

/// Whether the input `path` is a device, which may never end.
bool isDevice(StringRef path);
/// What to tell the user about it.
std::string explainDevice(StringRef path);

/// Parses the file `path`, the standard input where it is "-", and calls `run`
/// with its module. Prints what is wrong, and diagnostics of `run`, to the
/// standard error stream.
LogicalResult runOnFile(StringRef path, const DialectRegistry &registry,
                        function_ref<LogicalResult(ModuleOp)> run);

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_TOOLINPUT_H
