//===- LLVMPasses.h - Passes of LLVM on a module ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_LLVMPASSES_H
#define FAD_LIB_RUNTIME_LLVMPASSES_H

#include "mlir/Support/LLVM.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::fad {

/// Runs `pipeline`, as opt's `-passes` spells it, on `module`.
void runPasses(llvm::Module &module, StringRef pipeline);

/// Optimizes `module` for the processor of `machine`, as much as LLVM does at
/// `level`, 0 to 3. At 0, only what saves time of compilation is done: less
/// code is left where values are in registers and equal ones are one. A
/// network, which is a sequence of many loops, gets no more than level 2, and
/// its loops are vectorized but not unrolled: that makes twice the code, which
/// takes twice the time to compile and no less time to run.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level, bool isNetwork);

/// Keeps LLVM from optimizing the C interfaces of `module` and their packed
/// forms: they pass all fields of all tensor descriptors in one block, which
/// takes time quadratic in their number.
void simplifyInterface(llvm::Module &module);

/// Outlines each outermost loop of functions of `module` with many loops, and
/// merges equal outlined functions. Returns whether it has outlined one.
bool splitFunctions(llvm::Module &module);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_LLVMPASSES_H
