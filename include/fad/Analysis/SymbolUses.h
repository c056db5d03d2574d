//===- SymbolUses.h - Whether uses of symbols are known ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_SYMBOLUSES_H
#define FAD_ANALYSIS_SYMBOLUSES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// Fails, with an error, if an unregistered operation of `module` has a region:
/// it may have symbols of its own, on which the inliner and `SymbolUserMap`
/// crash.
LogicalResult checkSymbolUses(ModuleOp module);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_SYMBOLUSES_H
