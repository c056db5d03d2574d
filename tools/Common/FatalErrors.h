//===- FatalErrors.h - Errors on which LLVM aborts --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_FATALERRORS_H
#define FAD_TOOLS_COMMON_FATALERRORS_H

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace mlir::fad {

/// Ends a program with status 1 and an error where LLVM would abort, for
/// example on bytecode that claims to be larger than memory. Required first in
/// `main`.
inline void reportFatalErrors() {
  auto report = +[](void *, const char *reason, bool) {
    llvm::errs() << "error: LLVM cannot go on: " << reason << "\n";
    // Other threads may still run: no destructor does.
    std::_Exit(EXIT_FAILURE);
  };
  llvm::install_fatal_error_handler(report);
  llvm::install_bad_alloc_error_handler(report);
  llvm::install_out_of_memory_new_handler();
}

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_FATALERRORS_H
