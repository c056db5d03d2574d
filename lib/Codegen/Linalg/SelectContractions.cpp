//===- SelectContractions.cpp - Contractions for a library ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Remarks.h"
#include "fad/Codegen/Linalg/Contraction.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSELECTCONTRACTIONS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-select-contractions"

/// Products of two matrices from which on a library's function takes less time
/// than a loop. At 16 x 16 x 16 the call takes as long as all the arithmetic.
static constexpr int64_t kMinProducts = 16384;

/// Why loops are as fast as a library for the contraction `op`: its matrices
/// are small, or the elements of one do not lie together. Empty if they are
/// not.
static std::string explainLoops(linalg::LinalgOp op) {
  linalg::ContractionDimensions dims = *linalg::inferContractionDims(op);
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumResults() && !dims.batch.empty() &&
        llvm::is_contained(
            dims.batch,
            cast<AffineDimExpr>(map.getResults().back()).getPosition()))
      return "elements of a batch lie between those of a matrix";
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto multiply = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops) {
      if (ShapedType::isDynamic(ranges[loop]) || ranges[loop] == 0)
        return ranges[loop];
      product *= ranges[loop];
    }
    return product;
  };
  int64_t rows = multiply(dims.m), columns = multiply(dims.n),
          sums = multiply(dims.k);
  // A vector times a matrix is as fast as memory in either.
  if (rows == 0 || columns == 0 || sums == 0 || rows == 1 || columns == 1)
    return "an operand is a vector, or empty";
  bool isLarge =
      ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) ||
      ShapedType::isDynamic(sums) || rows * columns * sums >= kMinProducts;
  return isLarge ? ""
                 : "it has fewer than " + std::to_string(kMinProducts) +
                       " products";
}

/// Where the elements of `value` are that a transpose or broadcast has copied:
/// the source, and the map from indices of `value` to its indices.
static std::optional<std::pair<Value, AffineMap>> findSource(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      !op.hasOnlyProjectedPermutations() ||
      isa<linalg::FillOp>(op.getOperation()))
    return std::nullopt;
  Block &block = *op.getBlock();
  Value source = op.getDpsInputOperand(0)->get();
  if (block.getTerminator()->getOperand(0) != block.getArgument(0) ||
      !isa<RankedTensorType>(source.getType()))
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isPermutation())
    return std::nullopt;
  return std::pair(source, op.getMatchingIndexingMap(op.getDpsInputOperand(0))
                               .compose(inversePermutation(result)));
}

namespace {
struct SelectContractionsPass
    : fad::impl::FadSelectContractionsBase<SelectContractionsPass> {
  using FadSelectContractionsBase::FadSelectContractionsBase;

  void runOnOperation() override {
    if (contractions == Contractions::loops)
      return;
    if (failed(expandOperands()))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics() || !isContraction(op))
        return;
      if (std::string reason = findObstacle(op); !reason.empty())
        return refuse(op, reason);
      ops.push_back(op);
    });
    numSelected += ops.size();
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      select(rewriter, op);
  }

  /// Splits batch loops of contractions that joined dimensions of a copy, so
  /// that they read its source. Rows, columns, or sums that are split take the
  /// library much longer than a copy does.
  LogicalResult expandOperands() {
    auto joinsCopy = [&](OpOperand *operand) {
      auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
      auto op = dyn_cast<linalg::LinalgOp>(operand->getOwner());
      return collapse && op && op.isDpsInput(operand) &&
             findSource(collapse.getSrc()) && isForLibrary(op) &&
             joinsBatches(collapse, op, op.getMatchingIndexingMap(operand));
    };
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, joinsCopy);
    // Zeros of the sum get the shape of the loops, too, so that the call still
    // leaves them out.
    linalg::FillOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  /// Whether all that `collapse`, accessed by `map` in `op`, joins are batches.
  static bool joinsBatches(tensor::CollapseShapeOp collapse,
                           linalg::LinalgOp op, AffineMap map) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    return llvm::all_of_zip(
        collapse.getReassociationIndices(), map.getResults(),
        [&](const ReassociationIndices &joined, AffineExpr expr) {
          auto loop = dyn_cast<AffineDimExpr>(expr);
          return joined.size() == 1 ||
                 (loop && llvm::all_of(maps, [&](AffineMap other) {
                    return other.isFunctionOfDim(loop.getPosition());
                  }));
        });
  }

  bool isForLibrary(linalg::LinalgOp op) {
    return op.hasPureTensorSemantics() && isContraction(op) &&
           findObstacle(op).empty();
  }

  /// Why the contraction `op` is none for the library; empty if it is one.
  std::string findObstacle(linalg::LinalgOp op) {
    StringRef elements = getContractionType(op);
    if (elements.empty() ||
        (!types.empty() && !llvm::is_contained(types, elements)))
      return "the library has no function for its elements";
    return contractions == Contractions::library ? "" : explainLoops(op);
  }

  /// Says why the contraction `op` becomes loops.
  void refuse(linalg::LinalgOp op, StringRef reason) {
    ++numLeft;
    LDBG() << op.getLoc() << " becomes loops, as " << reason;
    emitMissedRemark(op, DEBUG_TYPE, "NotInLibrary", reason);
  }

  /// Marks `op` and lets it read what transposes and broadcasts would copy.
  static void select(RewriterBase &rewriter, linalg::LinalgOp op) {
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(*op);
    if (!generic) {
      auto made = linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return;
      generic = *made;
    }
    rewriter.modifyOpInPlace(generic, [&] {
      generic->setAttr(kLibraryAttr, rewriter.getUnitAttr());
    });
    for (OpOperand *operand : generic.getDpsInputOperands())
      while (auto found = findSource(operand->get())) {
        Value before = operand->get();
        SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
        Attribute mapsBefore = generic.getIndexingMapsAttr();
        AffineMap &map = maps[operand->getOperandNumber()];
        map = found->second.compose(map);
        rewriter.modifyOpInPlace(generic, [&] {
          operand->set(found->first);
          generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
        });
        if (isContraction(generic))
          continue;
        // Without a broadcast dimension, no loop of rows may be left.
        rewriter.modifyOpInPlace(generic, [&] {
          operand->set(before);
          generic->setAttr(generic.getIndexingMapsAttrName(), mapsBefore);
        });
        break;
      }
  }
};
} // namespace
