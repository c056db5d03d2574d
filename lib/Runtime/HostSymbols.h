//===- HostSymbols.h - What compiled code calls on the host -----*- C++ -*-===//
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

/// Definitions of the functions of the C library that compiled code allocates
/// with, and of those that it ends in where an assertion fails.
llvm::orc::SymbolMap getHostSymbols(llvm::orc::MangleAndInterner mangle);

/// Calls `invoke`. Fails, with a message, where an assertion fails in it or
/// memory is lacking, unless that is in a parallel loop, which ends the
/// process. The compiled code frees `owned`; where it fails, this does.
llvm::Error callCompiled(void (*invoke)(void **), void **arguments,
                         llvm::ArrayRef<void *> owned = {});

/// Loads the shared libraries that compiled code calls.
llvm::Error loadRuntimeLibraries();

/// Loads the CUDA runtime. Not valid where it is missing.
llvm::sys::DynamicLibrary loadCUDARuntime();

/// Loads that of OpenMP, for parallel loops. Returns whether there is one.
bool loadOpenMP();

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_HOSTSYMBOLS_H
