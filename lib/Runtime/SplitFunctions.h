//===- SplitFunctions.h - Functions with many loops, in parts ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_SPLITFUNCTIONS_H
#define FAD_LIB_RUNTIME_SPLITFUNCTIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::fad {

/// Keeps LLVM from optimizing the C interfaces of `module` and their packed
/// forms: they pass all fields of all tensor descriptors in one block, which
/// takes time quadratic in their number.
void simplifyInterface(llvm::Module &module);

/// Outlines each outermost loop of functions of `module` with many loops, and
/// merges equal outlined functions. Returns whether it has outlined one.
bool splitFunctions(llvm::Module &module);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_SPLITFUNCTIONS_H
