//===- CopyWrittenArguments.cpp - Copies of arguments for IREE ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "Legalizations.h"
#include "fad/Analysis/Movement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fad;

/// The values with which the result `value` of `op` may share memory.
static SmallVector<Value> getSources(Operation *op, Value value) {
  if (Value viewed = getViewedOperand(op))
    return {viewed};
  if (!isa<RegionBranchOpInterface, arith::SelectOp>(op))
    return {};
  SmallVector<Value> sources(op->getOperands());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(sources, block.getTerminator()->getOperands());
  llvm::erase_if(sources, [&](Value source) {
    return source.getType() != value.getType();
  });
  return sources;
}

/// Whether `value` may be in the memory of an argument of a function, or of a
/// global.
static bool mayBeArgument(Value value) {
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t next = 0; next < seen.size(); ++next) {
    Value current = seen[next];
    if (auto argument = dyn_cast<BlockArgument>(current)) {
      // IREE copies loop-carried values.
      if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
        return true;
      continue;
    }
    if (isa<ml_program::GlobalLoadOp>(current.getDefiningOp()))
      return true;
    seen.insert_range(getSources(current.getDefiningOp(), current));
  }
  return false;
}

/// The operands of `op` that IREE writes in place, or whose memory it keeps.
static SmallVector<OpOperand *> getWrittenOperands(Operation *op) {
  SmallVector<OpOperand *> written;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](linalg::LinalgOp linalgOp) {
        // Initial values of parallel loops become inputs there.
        if (linalgOp.getNumReductionLoops() == 0)
          return;
        for (OpOperand &init : linalgOp.getDpsInitsMutable())
          if (linalgOp.payloadUsesValueFromOperand(&init))
            written.push_back(&init);
      })
      .Case<tensor::InsertOp, tensor::InsertSliceOp>(
          [&](auto insert) { written.push_back(&insert.getDestMutable()); })
      .Case([&](ml_program::GlobalStoreOp store) {
        written.push_back(&store.getValueMutable());
      });
  return written;
}

/// `element` in a form that nothing folds before kernels are formed.
static Value createOpaqueIdentity(ImplicitLocOpBuilder &b, Value element) {
  Type type = element.getType();
  if (auto floating = dyn_cast<FloatType>(type)) {
    Value two = arith::ConstantOp::create(b, b.getFloatAttr(floating, 2.0));
    Value least = arith::MinimumFOp::create(b, element, two);
    return arith::MaximumFOp::create(b, element, least);
  }
  bool isNarrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 8;
  Type wide = isNarrow ? b.getI8Type() : type;
  if (isNarrow)
    element = arith::ExtUIOp::create(b, wide, element);
  Value two = arith::ConstantOp::create(b, b.getIntegerAttr(wide, 2));
  Value least = arith::MinSIOp::create(b, element, two);
  Value same = arith::MaxSIOp::create(b, element, least);
  return isNarrow ? arith::TruncIOp::create(b, type, same) : same;
}

/// A copy of the tensor `value` that IREE does not fold: IREE folds operations
/// that only copy, and then overwrites their source.
static Value createCopy(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = createEmptyLike(b, b.getLoc(), type, value);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  return createGeneric(b, value, empty, maps, /*reductions=*/0,
                       [](ImplicitLocOpBuilder &inner, ValueRange arguments) {
                         return createOpaqueIdentity(inner, arguments[0]);
                       });
}

LogicalResult fad::copyWrittenArguments(Operation *root) {
  SmallVector<OpOperand *> written;
  root->walk([&](Operation *op) {
    for (OpOperand *operand : getWrittenOperands(op))
      if (isa<RankedTensorType>(operand->get().getType()) &&
          mayBeArgument(operand->get()))
        written.push_back(operand);
  });
  for (OpOperand *operand : written) {
    Operation *op = operand->getOwner();
    auto type = cast<RankedTensorType>(operand->get().getType());
    if (!type.getElementType().isSignlessIntOrIndexOrFloat())
      return op->emitOpError("writes to an argument of type ")
             << type
             << ", which IREE would do in place; pass floats or signless "
                "integers";
    ImplicitLocOpBuilder b(op->getLoc(), op);
    operand->set(createCopy(b, operand->get()));
  }
  return success();
}
