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

/// Leaves of the wrappers that `module` has for the execution engine those around
/// C interfaces, and keeps LLVM from optimizing them: they pass the numbers of all
/// descriptors of tensors in one block, which would take time that grows with the
/// square of how many there are.
void simplifyInterface(llvm::Module &module);

/// Makes each outermost loop a function where a function of `module` has many,
/// and one function of those that are the same. Returns whether one has.
bool splitFunctions(llvm::Module &module);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_SPLITFUNCTIONS_H
