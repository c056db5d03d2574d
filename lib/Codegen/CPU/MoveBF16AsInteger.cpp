//===- MoveBF16AsInteger.cpp - Move bf16 as i16 ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMOVEBF16ASINTEGER
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether `type` is bf16 or a vector of it.
static bool isBF16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// Whether `op` moves numbers and does not compute with them.
static bool moves(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::SelectOp, LLVM::BitcastOp,
             LLVM::ConstantOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp,
             LLVM::FreezeOp, LLVM::InsertElementOp, LLVM::ExtractElementOp,
             LLVM::ShuffleVectorOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp>(
             op) ||
         isa<BranchOpInterface>(op);
}

namespace {
struct MoveBF16AsIntegerPass
    : fad::impl::FadMoveBF16AsIntegerBase<MoveBF16AsIntegerPass> {
  void runOnOperation() override {
    LLVM::LLVMFuncOp function = getOperation();
    if (function.isExternal())
      return;
    auto integer = IntegerType::get(&getContext(), 16);
    asInteger.addReplacement([=](BFloat16Type) -> Type { return integer; });
    asInteger.addReplacement([=](FloatAttr number) -> Attribute {
      return number.getType().isBF16()
                 ? IntegerAttr::get(integer, number.getValue().bitcastToAPInt())
                 : Attribute(number);
    });
    asInteger.addReplacement([=](DenseElementsAttr numbers) -> Attribute {
      return numbers.getElementType().isBF16() ? numbers.bitcast(integer)
                                               : Attribute(numbers);
    });
    SmallVector<Operation *> computing;
    function.walk([&](Operation *op) {
      if (!moves(op))
        computing.push_back(op);
    });
    for (Operation *op : computing)
      castOperands(op);
    for (Operation *op : computing)
      llvm::for_each(op->getResults(), [&](Value value) { castResult(value); });
    for (BlockArgument argument : function.getArguments())
      castResult(argument);
    for (Block &block : llvm::drop_begin(function.getBody()))
      for (BlockArgument argument : block.getArguments())
        argument.setType(asInteger.replace(argument.getType()));
    function.walk([&](Operation *op) {
      if (moves(op) && !casts.contains(op) &&
          llvm::any_of(op->getResultTypes(), isBF16))
        asInteger.replaceElementsIn(op, /*replaceAttrs=*/true,
                                    /*replaceLocs=*/false,
                                    /*replaceTypes=*/true);
    });
  }

private:
  /// Casts what `op` reads, which will be integers.
  void castOperands(Operation *op) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isBF16(operand.get().getType())) {
        auto cast = LLVM::BitcastOp::create(
            builder, op->getLoc(), operand.get().getType(), operand.get());
        casts.insert(cast);
        operand.set(cast);
      }
  }

  /// Casts `value`, which stays a floating-point number, for all its users.
  void castResult(Value value) {
    if (!isBF16(value.getType()))
      return;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    auto cast = LLVM::BitcastOp::create(
        builder, value.getLoc(), asInteger.replace(value.getType()), value);
    casts.insert(cast);
    value.replaceAllUsesExcept(cast, cast);
  }

  AttrTypeReplacer asInteger;
  /// The casts between what computes and what moves.
  llvm::SmallDenseSet<Operation *> casts;
};
} // namespace
