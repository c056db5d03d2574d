//===- Tool.h - Common parts of the tools -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_TOOL_H
#define FAD_TOOLS_COMMON_TOOL_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// Ends the program with status 1 and an error where LLVM would abort, for
/// example on bytecode that claims to be larger than memory, and has --version
/// say what there is of fad. Required first in `main`.
void initTool();

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

/// Registers all passes of upstream and of fad, and, in `registry`, the
/// operations of the transform dialect that fad adds. A program that is linked
/// with the tests' registration (test/lib) has the tests' passes and dialects,
/// too; one that is installed is not.
void registerToolPasses(DialectRegistry &registry);

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_TOOL_H
