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

namespace mlir::fad {
#define GEN_PASS_DEF_FADMOVEBF16ASINTEGER
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether `type` is bf16 or a vector of it.
static bool isBF16(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getElementType() : type).isBF16();
}

/// Whether `op` moves numbers and does not compute with them.
static bool moves(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::SelectOp, LLVM::BitcastOp,
             LLVM::ConstantOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp,
             LLVM::FreezeOp, LLVM::InsertElementOp, LLVM::ExtractElementOp,
             LLVM::ShuffleVectorOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp,
             LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp>(op);
}

namespace {
/// Rewrites one function.
class Mover {
public:
  Mover(LLVM::LLVMFuncOp function, AttrTypeReplacer &asInteger)
      : function(function), asInteger(asInteger) {}

  void run();

private:
  /// Casts what `op` reads, which will be integers.
  void castOperands(Operation *op);
  /// Casts `value`, which stays a floating-point number, for all its users.
  void castForUsers(Value value);
  /// Gives what `op`, which moves numbers, returns the type of integers.
  void retype(Operation *op);

  LLVM::LLVMFuncOp function;
  AttrTypeReplacer &asInteger;
  /// The casts between what computes and what moves.
  llvm::SmallDenseSet<Operation *> casts;
};
} // namespace

void Mover::castOperands(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isBF16(operand.get().getType())) {
      auto cast = LLVM::BitcastOp::create(
          builder, op->getLoc(), operand.get().getType(), operand.get());
      casts.insert(cast);
      operand.set(cast);
    }
}

void Mover::castForUsers(Value value) {
  if (!isBF16(value.getType()))
    return;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(value);
  auto cast = LLVM::BitcastOp::create(
      builder, value.getLoc(), asInteger.replace(value.getType()), value);
  casts.insert(cast);
  value.replaceAllUsesExcept(cast, cast);
}

void Mover::retype(Operation *op) {
  if (!casts.contains(op) && llvm::any_of(op->getResultTypes(), isBF16))
    asInteger.replaceElementsIn(op, /*replaceAttrs=*/true,
                                /*replaceLocs=*/false, /*replaceTypes=*/true);
}

void Mover::run() {
  SmallVector<Operation *> computing;
  SmallVector<Block *> blocks;
  function.walk([&](Operation *op) {
    if (!moves(op))
      computing.push_back(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        blocks.push_back(&block);
  });
  for (Operation *op : computing)
    castOperands(op);
  for (Operation *op : computing)
    for (Value result : op->getResults())
      castForUsers(result);
  for (Block *block : blocks)
    for (BlockArgument argument : block->getArguments())
      // Branches give the others their values.
      if (block->isEntryBlock())
        castForUsers(argument);
      else if (isBF16(argument.getType()))
        argument.setType(asInteger.replace(argument.getType()));
  function.walk([&](Operation *op) {
    if (moves(op))
      retype(op);
  });
}

namespace {
struct MoveBF16AsIntegerPass
    : fad::impl::FadMoveBF16AsIntegerBase<MoveBF16AsIntegerPass> {
  void runOnOperation() override {
    auto integer = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer asInteger;
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
    Mover(getOperation(), asInteger).run();
  }
};
} // namespace
