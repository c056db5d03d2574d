//===- SymbolUses.cpp - Known uses of symbols -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SymbolUses.h"

using namespace mlir;

LogicalResult fad::checkSymbolUses(ModuleOp module) {
  auto check = [](Operation *op) -> WalkResult {
    if (op->getNumRegions() == 0 || op->isRegistered())
      return WalkResult::advance();
    return op->emitOpError(
        "is not registered, so that calls in its region are not known; "
        "register the operation, or replace it");
  };
  return failure(module.walk(check).wasInterrupted());
}
