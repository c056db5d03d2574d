//===- SplitSums.cpp - Sums of products that IREE rejects -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalizations.h"
#include "fad/Interfaces/AdjointOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

/// Whether `map` reads the last of its loops, but not each of `others`.
static bool readsLastWithout(AffineMap map, ArrayRef<unsigned> others) {
  return map.isFunctionOfDim(map.getNumDims() - 1) &&
         !llvm::all_of(
             others, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
}

/// Whether an elementwise operation in the computation of `tensor` reads a
/// tensor that has its last dimension and lacks one of those in `others`.
static bool isBroadcastAlong(Value tensor, ArrayRef<unsigned> others) {
  SmallVector<Value> worklist = {tensor};
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    if (!op || op.getNumParallelLoops() != op.getNumLoops() ||
        !op.getIndexingMapMatchingResult(cast<OpResult>(value)).isIdentity() ||
        !seen.insert(value).second)
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (readsLastWithout(map, others))
        return true;
      if (map.isIdentity())
        worklist.push_back(input->get());
    }
  }
  return false;
}

/// The first input of `op` that has a dimension for each loop, if any.
static OpOperand *findFullInput(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isIdentity())
      return input;
  return nullptr;
}

/// Whether `op` sums a value that it computes from its inputs.
static bool isSum(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0))
           .isProjectedPermutation())
    return false;
  Block &body = op.getRegion().front();
  BlockArgument sum = body.getArguments().back();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return add && sum.hasOneUse() && *sum.user_begin() == add;
}

namespace {
/// Sums the last dimension of a product first, and then the others, if one of
/// the factors has that dimension and is broadcast along another: IREE 3.13
/// makes one contraction of vectors, of a shape that its verifier rejects.
struct SplitSum : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<unsigned> loops;
    op.getReductionDims(loops);
    OpOperand *full = findFullInput(op);
    if (!full || !isSum(op) || loops.size() < 2 ||
        loops.back() + 1 != op.getNumLoops())
      return rewriter.notifyMatchFailure(op,
                                         "is no sum over the last dimension");
    loops.pop_back();
    if (!isBroadcast(op, loops))
      return rewriter.notifyMatchFailure(op, "has no factor that is broadcast");

    Location loc = op.getLoc();
    Type type = getElementTypeOrSelf(op.getType(0));
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, full->get());
    sizes.pop_back();
    Value zeros = makeZeros(rewriter, loc, sizes, type);
    unsigned rank = sizes.size();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.back() = rewriter.getMultiDimIdentityMap(rank + 1).dropResult(rank);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    auto rows =
        linalg::GenericOp::create(rewriter, loc, zeros.getType(),
                                  op.getDpsInputs(), zeros, maps, iterators);
    rewriter.inlineRegionBefore(op.getRegion(), rows.getRegion(),
                                rows.getRegion().begin());

    iterators = op.getIteratorTypesArray();
    iterators.pop_back();
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    AffineMap result =
        AffineMap::get(rank, 0, map.getResults(), rewriter.getContext());
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getResultTypes(), rows.getResult(0), op.getDpsInits()[0],
        ArrayRef<AffineMap>{rewriter.getMultiDimIdentityMap(rank), result},
        iterators, [](OpBuilder &builder, Location loc, ValueRange arguments) {
          Value sum = arith::AddFOp::create(builder, loc, arguments);
          linalg::YieldOp::create(builder, loc, sum);
        });
    return success();
  }

  /// Whether an operand of `op`, or a tensor in the computation of an input,
  /// has the last dimension and lacks one of those in `others`.
  static bool isBroadcast(linalg::GenericOp op, ArrayRef<unsigned> others) {
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      AffineMap map = op.getMatchingIndexingMap(input);
      return readsLastWithout(map, others) ||
             (map.isIdentity() && isBroadcastAlong(input->get(), others));
    });
  }
};
} // namespace

void fad::populateSplitSumPatterns(RewritePatternSet &patterns) {
  patterns.add<SplitSum>(patterns.getContext());
}
