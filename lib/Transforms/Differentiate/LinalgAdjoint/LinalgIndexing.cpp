//===- LinalgIndexing.cpp - Indices of operands ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgIndexing.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

/// Adds `factor * expr` to `index`; false if that is not linear.
static bool addLinear(AffineExpr expr, int64_t factor, LinearIndex &index) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    index.offset += factor * constant.getValue();
    return true;
  }
  if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
    for (auto &[other, coefficient] : index.terms) {
      if (other != loop.getPosition())
        continue;
      coefficient += factor;
      return true;
    }
    index.terms.push_back({loop.getPosition(), factor});
    return true;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, index) &&
           addLinear(binary.getRHS(), factor, index);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && constant &&
         addLinear(binary.getLHS(), factor * constant.getValue(), index);
}

std::optional<LinearIndex> fad::getLinearIndex(AffineExpr expr) {
  LinearIndex index;
  if (!addLinear(expr, 1, index))
    return std::nullopt;
  llvm::erase_if(index.terms, [](auto term) { return term.second == 0; });
  return index;
}

LogicalResult fad::checkLoopExtents(LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, size] :
         llvm::zip(map.getResults(), op.getShape(&operand))) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || ShapedType::isDynamic(size))
        continue;
      int64_t &extent = extents[loop.getPosition()];
      if (ShapedType::isDynamic(extent))
        extent = size;
      if (extent != size)
        return op.emitOpError("has ")
               << extent << " and " << size << " iterations of loop #"
               << loop.getPosition()
               << " by its operands; make these sizes equal";
    }
  }
  return success();
}

OpFoldResult fad::getLoopExtent(RewriterBase &rewriter, LinalgOp op,
                                unsigned loop) {
  Value tensor;
  int64_t dim = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [position, expr] : llvm::enumerate(map.getResults())) {
      if (expr != rewriter.getAffineDimExpr(loop))
        continue;
      int64_t size = op.getShape(&operand)[position];
      if (!ShapedType::isDynamic(size))
        return rewriter.getIndexAttr(size);
      tensor = operand.get();
      dim = position;
    }
  }
  return tensor::getMixedSize(rewriter, op.getLoc(), tensor, dim);
}

bool fad::isConstantSize(OpFoldResult size, int64_t value) {
  return getConstantIntValue(size) == value;
}

Value fad::getLast(OpBuilder &builder, Location loc, OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return arith::ConstantIndexOp::create(builder, loc, *constant - 1);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return arith::SubIOp::create(builder, loc, cast<Value>(size), one);
}

Value fad::buildReverse(RewriterBase &rewriter, Location loc, Value tensor,
                        const llvm::SmallBitVector &reversed,
                        ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> from = tensor::getMixedSizes(rewriter, loc, tensor);
  SmallVector<OpFoldResult> to;
  for (int64_t dim : permutation)
    to.push_back(from[dim]);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, to, getElementTypeOrSelf(tensor));
  unsigned rank = permutation.size();
  auto generic = GenericOp::create(
      rewriter, loc, empty.getType(), ValueRange(), empty,
      rewriter.getMultiDimIdentityMap(rank),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> position(rank);
        for (auto [loop, dim] : llvm::enumerate(permutation)) {
          Value index = IndexOp::create(b, loc, loop);
          if (reversed.test(dim)) {
            Value last = getLast(b, loc, from[dim]);
            index = arith::SubIOp::create(b, loc, last, index);
          }
          position[dim] = index;
        }
        Value element = tensor::ExtractOp::create(b, loc, tensor, position);
        linalg::YieldOp::create(b, loc, element);
      });
  return generic.getResult(0);
}
