//===- SplitLanes.cpp - Elementwise operations on every other number ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Rewrites elementwise operations on vectors of one length to operations on
/// their even and their odd lanes.
class LaneSplitter {
public:
  LaneSplitter(RewriterBase &rewriter, int64_t lanes)
      : rewriter(rewriter), lanes(lanes) {}

  void split(Block &block);

private:
  using Halves = std::pair<Value, Value>;

  bool isWhole(Type type) const {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() == 1 && vector.getDimSize(0) == lanes;
  }
  Type halve(Type type) const {
    return isWhole(type)
               ? VectorType::get(lanes / 2,
                                 cast<VectorType>(type).getElementType())
               : type;
  }
  bool isElementwise(Operation *op) const {
    return OpTrait::hasElementwiseMappableTraits(op) &&
           op->getNumResults() == 1 && isWhole(op->getResult(0).getType());
  }
  Halves getHalves(Value whole);

  RewriterBase &rewriter;
  int64_t lanes;
  DenseMap<Value, Halves> halves;
};
} // namespace

/// The halves of `whole`, created at its first user.
LaneSplitter::Halves LaneSplitter::getHalves(Value whole) {
  if (!isWhole(whole.getType()))
    return {whole, whole};
  auto [entry, isNew] = halves.try_emplace(whole);
  if (!isNew)
    return entry->second;
  Location loc = whole.getLoc();
  Type type = halve(whole.getType());
  DenseElementsAttr constant;
  Value low, high;
  if (matchPattern(whole, m_Constant(&constant)) && constant.isSplat()) {
    auto attr = constant.resizeSplat(cast<ShapedType>(type));
    low = high = arith::ConstantOp::create(rewriter, loc, attr);
  } else if (auto spread = whole.getDefiningOp<vector::BroadcastOp>();
             spread && !isa<VectorType>(spread.getSourceType())) {
    low = high =
        vector::BroadcastOp::create(rewriter, loc, type, spread.getSource());
  } else {
    auto pairs = vector::DeinterleaveOp::create(rewriter, loc, whole);
    low = pairs.getRes1();
    high = pairs.getRes2();
  }
  return halves[whole] = {low, high};
}

void LaneSplitter::split(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (isElementwise(&op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    SmallVector<Value> low, high;
    for (Value operand : op->getOperands()) {
      Halves parts = getHalves(operand);
      low.push_back(parts.first);
      high.push_back(parts.second);
    }
    auto clone = [&](ValueRange operands) {
      Operation *half = rewriter.clone(*op);
      half->setOperands(operands);
      half->getResult(0).setType(halve(op->getResult(0).getType()));
      return half->getResult(0);
    };
    halves[op->getResult(0)] = {clone(low), clone(high)};
  }
  for (Operation *op : llvm::reverse(ops)) {
    // The remaining uses are not elementwise.
    if (!op->use_empty()) {
      rewriter.setInsertionPoint(op);
      auto [low, high] = halves[op->getResult(0)];
      rewriter.replaceOpWithNewOp<vector::InterleaveOp>(op, low, high);
    } else {
      rewriter.eraseOp(op);
    }
  }
}

void fad::splitLanes(RewriterBase &rewriter, Block &block, int64_t lanes) {
  OpBuilder::InsertionGuard guard(rewriter);
  LaneSplitter(rewriter, lanes).split(block);
}
