//===- ProtectArguments.cpp - Arguments that may not be written -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADPROTECTARGUMENTS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct ProtectArgumentsPass
    : fad::impl::FadProtectArgumentsBase<ProtectArgumentsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Bufferization sees all callers of a private function and decides.
    if (function.isPrivate() || function.isExternal())
      return;
    StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
    for (BlockArgument argument : function.getArguments())
      if (isa<TensorType>(argument.getType()) &&
          !function.getArgAttr(argument.getArgNumber(), name))
        function.setArgAttr(
            argument.getArgNumber(), name,
            BoolAttr::get(&getContext(),
                          bool(function.getArgAttr(argument.getArgNumber(),
                                                   FadDialect::kOwnedAttr))));
  }
};
} // namespace
