//===- HoistRecomputation.cpp - Recomputation first in backward -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADHOISTRECOMPUTATION
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct FadHoistRecomputationPass
    : fad::impl::FadHoistRecomputationBase<FadHoistRecomputationPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    DenseSet<Value> dependent;
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(),
                              FadDialect::kCotangentAttr))
        dependent.insert(argument);
    if (dependent.empty())
      return;
    // Operations that depend on a cotangent move to the end, in their order.
    Operation *terminator = function.front().getTerminator();
    SmallVector<Operation *> last;
    for (Operation &op : function.front().without_terminator()) {
      bool depends = !isMemoryEffectFree(&op);
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          depends |= dependent.contains(operand);
      });
      if (!depends)
        continue;
      dependent.insert(op.result_begin(), op.result_end());
      last.push_back(&op);
    }
    for (Operation *op : last)
      op->moveBefore(terminator);
    // Operations that were repeated to shorten lifetimes may be merged.
    for (Operation &op : function.front())
      op.removeDiscardableAttr(FadDialect::kRematerializedAttr);
  }
};
} // namespace
