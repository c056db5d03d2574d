//===- Reductions.cpp - Loops of reductions with sums in registers --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// LLVM vectorizes the innermost loop of a reduction if its results are in
// registers and its sums may be reassociated.
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fad;

/// The sum, product, minimum or maximum that alone combines `old`, an element
/// of a result, with another number, or null.
static Operation *getCombination(linalg::GenericOp op, BlockArgument old) {
  unsigned index = old.getArgNumber() - op.getNumDpsInputs();
  Value result = op.getBody()->getTerminator()->getOperand(index);
  Operation *combination = result.getDefiningOp();
  bool combines =
      combination && old.hasOneUse() && result.hasOneUse() &&
      *old.user_begin() == combination &&
      isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp>(combination);
  return combines ? combination : nullptr;
}

/// f32 for narrower floats.
static Type getWideType(Type type) {
  bool isNarrow = type.isF16() || type.isBF16();
  return isNarrow ? Float32Type::get(type.getContext()) : type;
}

/// `value` in `type`, a float of another width, or its own type.
static Value convertTo(OpBuilder &b, Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, value.getLoc(), type, value);
  return arith::TruncFOp::create(b, value.getLoc(), type, value);
}

/// The place in `operand` that `op` accesses at `ivs`.
static SmallVector<Value> getPlace(OpBuilder &b, linalg::GenericOp op,
                                   OpOperand &operand,
                                   ArrayRef<OpFoldResult> ivs) {
  Location loc = op.getLoc();
  return getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedMultiResultAffineApply(
          b, loc, op.getMatchingIndexingMap(&operand), ivs));
}

static Value load(OpBuilder &b, linalg::GenericOp op, OpOperand &operand,
                  ArrayRef<OpFoldResult> ivs) {
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  return memref::LoadOp::create(b, op.getLoc(), operand.get(),
                                getPlace(b, op, operand, ivs));
}

/// Emits the body of `op` at `ivs` for `carried`, the results so far. Returns
/// the new ones.
static SmallVector<Value> emitBody(OpBuilder &b, linalg::GenericOp op,
                                   ArrayRef<OpFoldResult> ivs,
                                   ValueRange carried) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(input), load(b, op, *input, ivs));
  SmallPtrSet<Operation *, 4> combinations;
  for (auto [old, value] : llvm::zip_equal(op.getRegionOutputArgs(), carried)) {
    if (Operation *combination = getCombination(op, old))
      combinations.insert(combination);
    mapping.map(old, value);
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    Operation *clone = b.clone(inner, mapping);
    if (!combinations.contains(&inner))
      continue;
    Type type = getWideType(clone->getResult(0).getType());
    b.setInsertionPoint(clone);
    for (OpOperand &operand : clone->getOpOperands())
      operand.set(convertTo(b, operand.get(), type));
    b.setInsertionPointAfter(clone);
    clone->getResult(0).setType(type);
    auto flagged = cast<arith::ArithFastMathInterface>(clone);
    auto flags = flagged.getFastMathFlagsAttr().getValue() |
                 arith::FastMathFlags::reassoc;
    clone->setAttr(flagged.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(b.getContext(), flags));
  }
  return llvm::map_to_vector(
      op.getBody()->getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

LogicalResult fad::emitReduction(RewriterBase &rewriter, linalg::GenericOp op) {
  unsigned inner = op.getNumLoops() - 1;
  if (op.getNumLoops() == 0 || op.hasIndexSemantics() ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
        return op.getMatchingIndexingMap(&output).isFunctionOfDim(inner);
      }))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  InnerLoop row = emitOuterLoops(rewriter, op);
  SmallVector<OpFoldResult> ivs(row.outerIVs);
  ivs.push_back(rewriter.getIndexAttr(0));
  SmallVector<Value> first;
  for (auto [output, old] :
       llvm::zip_equal(op.getDpsInitsMutable(), op.getRegionOutputArgs())) {
    Value value = load(rewriter, op, output, ivs);
    Type type = value.getType();
    first.push_back(convertTo(
        rewriter, value, getCombination(op, old) ? getWideType(type) : type));
  }
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value end = getValueOrCreateConstantIndexOp(rewriter, loc, row.size);
  auto loop = scf::ForOp::create(
      rewriter, loc, zero, end, one, first,
      [&](OpBuilder &b, Location, Value iv, ValueRange carried) {
        ivs.back() = iv;
        scf::YieldOp::create(b, loc, emitBody(b, op, ivs, carried));
      });
  ivs.back() = rewriter.getIndexAttr(0);
  for (auto [output, result] :
       llvm::zip_equal(op.getDpsInitsMutable(), loop.getResults())) {
    Type type = cast<MemRefType>(output.get().getType()).getElementType();
    memref::StoreOp::create(rewriter, loc, convertTo(rewriter, result, type),
                            output.get(), getPlace(rewriter, op, output, ivs));
  }
  rewriter.eraseOp(op);
  return success();
}
