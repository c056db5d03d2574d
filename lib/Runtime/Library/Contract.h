//===- Contract.h - Contractions of compiled code ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_LIBRARY_CONTRACT_H
#define FAD_LIB_RUNTIME_LIBRARY_CONTRACT_H

#include "Library.h"
#include "mlir/ExecutionEngine/CRunnerUtils.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace mlir::fad {

/// What `fad-contractions-to-calls` calls: the left factor, the right factor,
/// the sum; the loops of the dimensions of each; and flags (see Call.h).
using ContractFunction = void(::UnrankedMemRefType<char> *,
                              ::UnrankedMemRefType<char> *,
                              ::UnrankedMemRefType<char> *, int64_t, int64_t,
                              int64_t, int64_t);

/// Calls `callback` with each of these functions and its symbol.
void forEachContraction(
    llvm::function_ref<void(llvm::StringRef, ContractFunction *)> callback);

/// Likewise for convolutions: the operands, the loops of the dimensions of
/// each, three windows, and flags.
using ConvolveFunction = void(::UnrankedMemRefType<char> *,
                              ::UnrankedMemRefType<char> *,
                              ::UnrankedMemRefType<char> *, int64_t, int64_t,
                              int64_t, int64_t, int64_t, int64_t, int64_t);
void forEachConvolution(
    llvm::function_ref<void(llvm::StringRef, ConvolveFunction *)> callback);

/// Adds the types that a library has convolutions for to `types`, as in
/// `fad-select-convolutions`.
void addConvolutionTypes(std::vector<std::string> &types);

/// The types of elements that a library on this machine has functions for, as
/// in `fad-select-contractions` and `fad-select-convolutions`. Empty where
/// there is no library.
llvm::ArrayRef<std::string> getLibraryTypes();

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_LIBRARY_CONTRACT_H
