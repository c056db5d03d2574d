//===- Splats.cpp - Tensors of one repeated scalar ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Splats.h"
#include "fad/Analysis/Movement.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

bool fad::mayHaveTangent(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    Operation *def = current.getDefiningOp();
    if (isa<ShapedType>(current.getType())) {
      if (isa<FloatType>(getElementTypeOrSelf(current)) &&
          !matchPattern(current, m_Constant()))
        return true;
      continue;
    }
    // Sizes are integers: a tensor's shape has no tangent.
    if (!def || isa<tensor::DimOp>(def))
      continue;
    llvm::append_range(worklist, def->getOperands());
  }
  return false;
}

/// The source of the elements of `tensor`, if `tensor` only arranges and
/// repeats them: a tensor, a scalar, or a constant. Null otherwise.
static OpFoldResult getArranged(Value tensor) {
  Operation *def = tensor.getDefiningOp();
  if (Value moved = getMovedOperand(def))
    return moved;
  auto op = dyn_cast_or_null<linalg::LinalgOp>(def);
  if (!op || !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return {};
  // The loops write all elements.
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  OpOperand *init = op.getDpsInitOperand(result);
  if (!op.getMatchingIndexingMap(init).isPermutation())
    return {};
  Value yielded = op.getBlock()->getTerminator()->getOperand(result);
  if (yielded.getParentBlock() != op.getBlock())
    return yielded;
  if (auto argument = dyn_cast<BlockArgument>(yielded)) {
    OpOperand *read = op.getMatchingOpOperand(argument);
    return op.isDpsInput(read) ? OpFoldResult(read->get()) : OpFoldResult();
  }
  Attribute constant;
  if (matchPattern(yielded, m_Constant(&constant)))
    return constant;
  return {};
}

/// The most arrangements between a constant and its reader: frontends arrange a
/// constant once or twice.
static constexpr unsigned kMaxArrangements = 4;

OpFoldResult fad::getSplat(Value tensor) {
  for (unsigned step = 0; step < kMaxArrangements; ++step) {
    OpFoldResult from = getArranged(tensor);
    auto value = dyn_cast_if_present<Value>(from);
    if (!value) {
      if (from)
        return from;
      break;
    }
    if (!isa<ShapedType>(value.getType()))
      return mayHaveTangent(value) ? OpFoldResult() : value;
    tensor = value;
  }
  // Elements that no scalar constant holds (complex numbers, strings) are not
  // typed attributes.
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat() &&
      isa<TypedAttr>(dense.getSplatValue<Attribute>()))
    return dense.getSplatValue<Attribute>();
  return {};
}
