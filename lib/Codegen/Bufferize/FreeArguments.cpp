//===- FreeArguments.cpp - Free the arguments that a function owns --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFREEARGUMENTS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct FreeArgumentsPass : fad::impl::FadFreeArgumentsBase<FreeArgumentsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<BlockArgument> owned;
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(),
                              FadDialect::kOwnedAttr)) {
        function.removeArgAttr(argument.getArgNumber(), FadDialect::kOwnedAttr);
        if (isa<MemRefType>(argument.getType()))
          owned.push_back(argument);
      }
    if (owned.empty())
      return;
    BufferViewFlowAnalysis aliases(function);
    bool isStraight = function.getBody().hasOneBlock();
    for (BlockArgument argument : owned)
      if (!isStraight || !handOn(argument))
        free(argument, aliases);
  }

  /// Returns `argument` itself instead of a copy of it.
  static bool handOn(BlockArgument argument) {
    Operation *exit = argument.getOwner()->getTerminator();
    for (Operation *user : argument.getUsers()) {
      auto clone = dyn_cast<bufferization::CloneOp>(user);
      if (!clone || clone.getType() != argument.getType() ||
          !clone->hasOneUse() || *clone->user_begin() != exit)
        continue;
      clone.getResult().replaceAllUsesWith(argument);
      clone.erase();
      return true;
    }
    return false;
  }

  /// Frees `argument` after its last use or, in a function of several blocks,
  /// before the return.
  static void free(BlockArgument argument, BufferViewFlowAnalysis &aliases) {
    Block *block = argument.getOwner();
    Region *body = block->getParent();
    if (!body->hasOneBlock()) {
      for (Block &each : *body)
        if (isa<func::ReturnOp>(each.getTerminator())) {
          OpBuilder builder(each.getTerminator());
          memref::DeallocOp::create(builder, argument.getLoc(), argument);
        }
      return;
    }
    Operation *last = nullptr;
    for (Value alias : aliases.resolve(argument))
      for (Operation *user : alias.getUsers()) {
        Operation *ancestor = block->findAncestorOpInBlock(*user);
        if (ancestor && (!last || last->isBeforeInBlock(ancestor)))
          last = ancestor;
      }
    OpBuilder builder = OpBuilder::atBlockBegin(block);
    if (last && last->hasTrait<OpTrait::IsTerminator>())
      builder.setInsertionPoint(last);
    else if (last)
      builder.setInsertionPointAfter(last);
    memref::DeallocOp::create(builder, argument.getLoc(), argument);
  }
};
} // namespace
