//===- ToolPasses.h - The passes of fad-opt and fad-reduce ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_TOOLPASSES_H
#define FAD_TOOLS_COMMON_TOOLPASSES_H

namespace mlir {
class DialectRegistry;
}

namespace mlir::fad {

/// Registers all passes of upstream and of fad, and, in `registry`, the
/// operations of the transform dialect that fad adds. A program that is linked
/// with the tests' registration (test/lib) has the tests' passes and dialects,
/// too; one that is installed is not.
void registerToolPasses(DialectRegistry &registry);

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_TOOLPASSES_H
