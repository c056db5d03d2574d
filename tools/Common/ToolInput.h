//===- ToolInput.h - The input module of a tool -----------------*- C++ -*-===//
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
/// The explanation for the user.
std::string explainDevice(StringRef path);

/// Parses the file `path`, or the standard input for "-", and calls `run` with
/// its module. Prints errors, and diagnostics of `run`, to the standard error
/// stream.
LogicalResult runOnFile(StringRef path, const DialectRegistry &registry,
                        function_ref<LogicalResult(ModuleOp)> run);

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_TOOLINPUT_H
