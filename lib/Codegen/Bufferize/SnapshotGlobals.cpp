//===- SnapshotGlobals.cpp - Load and store globals by value --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSNAPSHOTGLOBALS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct SnapshotGlobalsPass
    : fad::impl::FadSnapshotGlobalsBase<SnapshotGlobalsPass> {
  void runOnOperation() override {
    bool valid = true;
    SymbolTableCollection symbols;
    getOperation().walk([&](Operation *op) {
      if (auto global = dyn_cast<ml_program::GlobalOp>(op))
        valid &= succeeded(checkType(global));
      else if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
        snapshot(load, load.getGlobalOp(symbols));
      else if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op))
        replaceByConstant(load, load.getGlobalOp(symbols));
      else if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op))
        snapshot(store);
    });
    if (!valid)
      signalPassFailure();
  }

  static LogicalResult checkType(ml_program::GlobalOp global) {
    if (isa<RankedTensorType>(global.getType()))
      return success();
    return global.emitOpError("is of type ")
           << global.getType()
           << ", which has no lowering; make it a ranked tensor";
  }

  /// Copies the result of a load from a mutable global.
  static void snapshot(ml_program::GlobalLoadOp load,
                       ml_program::GlobalOp global) {
    if (!global.getIsMutable())
      return replaceByConstant(load, global);
    OpBuilder builder(load);
    builder.setInsertionPointAfter(load);
    if (Operation *copy = createCopy(builder, load.getResult()))
      load.getResult().replaceAllUsesExcept(copy->getResult(0), copy);
  }

  /// Copies the operand of a store. Bufferization takes the operand for a
  /// destination: if it is constant or has other readers, an uninitialized
  /// buffer would be stored instead.
  static void snapshot(ml_program::GlobalStoreOp store) {
    OpBuilder builder(store);
    if (Operation *copy = createCopy(builder, store.getValue()))
      store.getValueMutable().assign(copy->getResult(0));
  }

  /// A copy of `value` in a new buffer; null if it is no tensor.
  static Operation *createCopy(OpBuilder &builder, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return nullptr;
    return bufferization::AllocTensorOp::create(
        builder, value.getLoc(), type, /*dynamicSizes=*/ValueRange(),
        /*copy=*/value, /*memory_space=*/IntegerAttr());
  }

  /// A global without stores is its initial value.
  static void replaceByConstant(Operation *load, ml_program::GlobalOp global) {
    auto value = dyn_cast_or_null<ElementsAttr>(global.getValueAttr());
    if (!value || value.getShapedType() != load->getResult(0).getType())
      return;
    IRRewriter rewriter(load);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(load, value);
  }
};
} // namespace
