//===- SymbolUses.cpp - Whether uses of symbols are known -----------------===//
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
        "has a region, and its dialect is not registered, so that calls in it "
        "are not known; register the dialect, or replace the operation");
  };
  return failure(module.walk(check).wasInterrupted());
}
