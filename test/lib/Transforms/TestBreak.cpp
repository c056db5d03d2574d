//===- TestBreak.cpp - A pass that makes IR invalid -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
/// Turns the operations of a function round: results are read before they are
/// computed.
struct TestBreakPass : PassWrapper<TestBreakPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestBreakPass)

  StringRef getArgument() const override { return "test-fad-break"; }
  StringRef getDescription() const override {
    return "Make the functions of a module invalid";
  }

  void runOnOperation() override {
    Block &block = getOperation().front();
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      op.moveBefore(&block, block.begin());
  }
};
} // namespace

void mlir::fad::test::registerTestBreakPass() {
  PassRegistration<TestBreakPass>();
}
