//===- Gemm.h - Contractions by a library ------------------------*- C++
//-*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_LIBRARY_GEMM_H
#define FAD_LIB_RUNTIME_LIBRARY_GEMM_H

#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::fad {

/// A function that `fad-contractions-to-calls` calls with the left factor, the
/// right factor, and the sum; the loops of the dimensions of each, in four bits
/// each; and flags: 1 adds to the sum, 2 uses one thread only.
using ContractFunction = void(::UnrankedMemRefType<char> *,
                              ::UnrankedMemRefType<char> *,
                              ::UnrankedMemRefType<char> *, int64_t, int64_t,
                              int64_t, int64_t);

/// Calls `callback` with each of these functions and its symbol.
void forEachContraction(
    llvm::function_ref<void(llvm::StringRef, ContractFunction *)> callback);

/// The types of elements that a library on this machine multiplies, as in
/// `fad-select-contractions`. Empty where there is no library.
llvm::ArrayRef<std::string> getLibraryTypes();

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_LIBRARY_GEMM_H
