//===- GlobalState.h - State that outlives a call ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_GLOBALSTATE_H
#define FAD_LIB_RUNTIME_GLOBALSTATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// Adds to `module` a function that stores in each mutable `ml_program.global`
/// its initial value. Null if there is none.
func::FuncOp addResetOfGlobals(ModuleOp module);

/// Adds to `module` a public function that takes values of the globals `names`
/// and stores them. Returns its name.
std::string addStoreOfGlobals(ModuleOp module, ArrayRef<std::string> names);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_GLOBALSTATE_H
