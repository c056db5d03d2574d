//===- HostSymbols.h - Functions called by compiled code --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_HOSTSYMBOLS_H
#define FAD_LIB_RUNTIME_HOSTSYMBOLS_H

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include "llvm/Support/DynamicLibrary.h"

namespace mlir::fad {

/// Definitions of functions that compiled code calls: those of the C library
/// through which it allocates memory and reports failed assertions, and those
/// of MLIR's runner libraries.
llvm::orc::SymbolMap getHostSymbols(llvm::orc::MangleAndInterner mangle);

/// Calls `invoke`. Fails, with a message, if an assertion fails or memory is
/// lacking; in a parallel loop, both end the process. The compiled code frees
/// `owned`; on failure, this function does.
llvm::Error callCompiled(void (*invoke)(void **), void **arguments,
                         llvm::ArrayRef<void *> owned = {});

/// Makes the compiler's own library visible to compiled code, which calls it to
/// convert numbers of 16 bits. Python has it, but not for all to see.
void loadCompilerLibrary();

/// Loads the CUDA runtime. The result is not valid if the runtime is missing.
llvm::sys::DynamicLibrary loadCUDARuntime();

/// Loads the OpenMP runtime, for parallel loops. Returns whether it exists.
bool loadOpenMP();
/// The function `name` of it; null if that is missing.
void *findInOpenMP(const char *name);
/// The threads that a parallel loop of this thread has at most.
int getMaxThreads();
/// Changes that number to `count`. Returns what it was.
int setMaxThreads(int count);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_HOSTSYMBOLS_H
