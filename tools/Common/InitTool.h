//===- InitTool.h - What all tools begin with -------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_INITTOOL_H
#define FAD_TOOLS_COMMON_INITTOOL_H

namespace mlir::fad {

/// Ends the program with status 1 and an error where LLVM would abort, for
/// example on bytecode that claims to be larger than memory, and has --version
/// say what there is of fad. Required first in `main`.
void initTool();

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_INITTOOL_H
