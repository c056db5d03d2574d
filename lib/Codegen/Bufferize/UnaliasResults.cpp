//===- UnaliasResults.cpp - Results that do not alias ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADUNALIASRESULTS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The source of the view `value`, or `value` itself.
static Value getRoot(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether `root` is a buffer that no other root can be.
static bool isFresh(Value root) {
  return isa_and_nonnull<memref::AllocOp, bufferization::CloneOp, func::CallOp>(
      root.getDefiningOp());
}

/// Clones the operands that `exit` returns twice, and, if the rest may have
/// other owners, those that are not known to be new.
static void separate(Operation *exit, bool mayHaveOthers) {
  auto isBuffer = [](Type type) { return isa<MemRefType>(type); };
  if (llvm::count_if(exit->getOperandTypes(), isBuffer) < 2)
    return;
  OpBuilder builder(exit);
  llvm::SmallDenseSet<Value> handedOn;
  for (OpOperand &operand : exit->getOpOperands()) {
    if (!isBuffer(operand.get().getType()))
      continue;
    Value root = getRoot(operand.get());
    bool isNew = !mayHaveOthers || isFresh(root);
    if (!isNew || !handedOn.insert(root).second)
      operand.set(bufferization::CloneOp::create(builder, exit->getLoc(),
                                                 operand.get()));
  }
}

namespace {
struct UnaliasResultsPass
    : fad::impl::FadUnaliasResultsBase<UnaliasResultsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<func::ReturnOp>(op)) {
        separate(op, /*mayHaveOthers=*/true);
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        separate(loop.getConditionOp(), /*mayHaveOthers=*/false);
        separate(loop.getYieldOp(), /*mayHaveOthers=*/false);
      }
    });
  }
};
} // namespace
