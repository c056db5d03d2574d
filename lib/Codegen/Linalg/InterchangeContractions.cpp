//===- InterchangeContractions.cpp - Contractions on contiguous memory ----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Linalg/Contraction.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADINTERCHANGECONTRACTIONS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// The position of loop `dim` among the results of `map`.
static std::optional<unsigned> findDim(AffineMap map, unsigned dim) {
  return map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
}

/// Whether neighboring iterations of loop `dim` access neighboring elements.
static bool isContiguous(AffineMap map, unsigned dim) {
  return findDim(map, dim) == map.getNumResults() - 1;
}

/// The loop along which the elements of the result of `op` are contiguous, or
/// nothing if this pass does not apply: it is for reductions in which each loop
/// stands for one dimension of the operands.
static std::optional<unsigned> getContiguousLoop(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op.getNumDpsInits() != 1 || !op.hasOnlyProjectedPermutations())
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0)
    return std::nullopt;
  return cast<AffineDimExpr>(result.getResults().back()).getPosition();
}

/// Whether each element that `map` reads is read again for another index of a
/// parallel loop, so that moving it to a better place is cheap by comparison.
static bool isReused(linalg::LinalgOp op, AffineMap map) {
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && !findDim(map, dim))
      return true;
  return false;
}

/// `value` with dimension `dim` moved to the end.
static Value moveDimLast(RewriterBase &rewriter, Location loc, Value value,
                         unsigned dim) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> permutation;
  for (int64_t i = 0, rank = type.getRank(); i < rank; ++i)
    if (i != dim)
      permutation.push_back(i);
  permutation.push_back(dim);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc,
      applyPermutation(tensor::getMixedSizes(rewriter, loc, value),
                       permutation),
      type.getElementType());
  return linalg::TransposeOp::create(rewriter, loc, value, empty, permutation)
      ->getResult(0);
}

/// Transposes operands of `op` that are not contiguous along loop `inner`, if
/// this is profitable.
static void transposeOperands(RewriterBase &rewriter, linalg::GenericOp op,
                              unsigned inner) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  rewriter.setInsertionPoint(op);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    std::optional<unsigned> dim = findDim(map, inner);
    if (!dim || isContiguous(map, inner) || !isReused(op, map))
      continue;
    Value moved = moveDimLast(rewriter, op.getLoc(), operand->get(), *dim);
    SmallVector<AffineExpr> results(map.getResults());
    std::rotate(results.begin() + *dim, results.begin() + *dim + 1,
                results.end());
    map = AffineMap::get(map.getNumDims(), 0, results, map.getContext());
    rewriter.modifyOpInPlace(op, [&] { operand->set(moved); });
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// The order of loops for `op`: parallel loops, reductions, then the last but
/// one parallel loop, which tiling makes short, and `inner`. Reductions keep
/// their order, so each element is summed as before.
static SmallVector<unsigned> orderLoops(linalg::GenericOp op, unsigned inner) {
  SmallVector<unsigned> order, reductions;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : result.getResults().drop_back())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  op.getReductionDims(reductions);

  // Operands that are invariant along the reductions do not count.
  bool streams = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return isContiguous(map, inner) &&
           llvm::any_of(reductions,
                        [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  });
  if (!streams) {
    order.push_back(inner);
    llvm::append_range(order, reductions);
    return order;
  }
  order.insert(order.empty() ? order.end() : order.end() - 1,
               reductions.begin(), reductions.end());
  order.push_back(inner);
  return order;
}

namespace {
struct InterchangeContractionsPass
    : fad::impl::FadInterchangeContractionsBase<InterchangeContractionsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!op->hasAttr(kLibraryAttr))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      orient(rewriter, op);
  }

  static void orient(RewriterBase &rewriter, linalg::LinalgOp op) {
    std::optional<unsigned> inner = getContiguousLoop(op);
    if (!inner)
      return;
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> made =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return;
      generic = *made;
    }
    transposeOperands(rewriter, generic, *inner);
    SmallVector<unsigned> order = orderLoops(generic, *inner);
    // A loop that no result knows has no place in the order.
    if (order.size() == generic.getNumLoops())
      (void)linalg::interchangeGenericOp(rewriter, generic, order);
  }
};
} // namespace
