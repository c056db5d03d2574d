//===- LinalgToLoops.cpp - Linalg on buffers to loops over tiles ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "fad/Analysis/Remarks.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADLINALGTOLOOPS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-linalg-to-loops"

/// Elements that make a tile worth handing to a thread: some microseconds.
static constexpr int64_t kGrain = 16384;
/// Fewer elements than this in all are not worth waking threads for.
static constexpr int64_t kMinParallelWork = 2 * kGrain;
/// The tile of a contraction: rows that share a load, and columns such that the
/// tile stays in the first-level cache.
static constexpr int64_t kContractionRows = 8;
static constexpr int64_t kContractionColumns = 512;

/// Wider vectors are in no processor's registers.
static constexpr int64_t kMaxVectorBits = 4096;

/// The side of the tile of a transpose.
static constexpr int64_t kTransposeSide = 32;

/// The number of iterations, or nothing if it is unknown.
static std::optional<int64_t> getStaticWork(ArrayRef<int64_t> ranges) {
  int64_t work = 1;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range))
      return std::nullopt;
    work *= range;
  }
  return work;
}

/// Tile sizes for parallel loops: the innermost ones whole, up to kGrain
/// iterations together with those of the reductions, which stay whole. Zero
/// leaves a loop untiled.
static SmallVector<int64_t>
tileByWork(ArrayRef<int64_t> ranges, ArrayRef<utils::IteratorType> iterators) {
  SmallVector<int64_t> sizes(ranges.size(), 0);
  int64_t elements = 1;
  for (auto [range, iterator] : llvm::zip_equal(ranges, iterators)) {
    if (iterator == utils::IteratorType::parallel)
      continue;
    bool isLong = ShapedType::isDynamic(range) || range >= kGrain / elements;
    elements = isLong ? kGrain : elements * std::max<int64_t>(range, 1);
  }
  for (int64_t i = ranges.size() - 1; i >= 0; --i) {
    if (iterators[i] != utils::IteratorType::parallel)
      continue;
    int64_t fits = std::max<int64_t>(kGrain / elements, 1);
    if (!ShapedType::isDynamic(ranges[i]) && ranges[i] <= fits) {
      elements *= std::max<int64_t>(ranges[i], 1);
      continue;
    }
    sizes[i] = fits;
    elements = kGrain;
  }
  return sizes;
}

/// Tile sizes for parallel loops along which the operands are contiguous in
/// different dimensions: squares, so that each loaded cache line is used up.
static SmallVector<int64_t> tileTranspose(ArrayRef<int64_t> ranges,
                                          const llvm::SmallBitVector &inner) {
  SmallVector<int64_t> sizes;
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    int64_t size = inner.test(dim) ? kTransposeSide : 1;
    bool isWhole = !ShapedType::isDynamic(range) && range <= size;
    sizes.push_back(isWhole ? 0 : size);
  }
  return sizes;
}

/// The loops along which neighbors of some operand of `op` lie.
static llvm::SmallBitVector getInnerLoops(linalg::LinalgOp op) {
  llvm::SmallBitVector loops(op.getNumLoops());
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumResults() != 0)
      if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
        loops.set(dim.getPosition());
  return loops;
}

/// Whether `op` reduces along its innermost loop and reads each element once,
/// but for those that are invariant along the reductions.
static bool isRowReduction(linalg::LinalgOp op) {
  SmallVector<unsigned> parallel, reductions;
  op.getParallelDims(parallel);
  op.getReductionDims(reductions);
  return !reductions.empty() && reductions.back() + 1 == op.getNumLoops() &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           auto isRead = [&](unsigned dim) { return map.isFunctionOfDim(dim); };
           return llvm::none_of(reductions, isRead) ||
                  llvm::all_of(parallel, isRead);
         });
}

/// Tile sizes for loops of which some are reductions, which stay whole.
static SmallVector<int64_t>
tileReduction(ArrayRef<int64_t> ranges,
              ArrayRef<utils::IteratorType> iterators) {
  SmallVector<int64_t> sizes(ranges.size(), 0);
  SmallVector<int64_t> wanted = {kContractionRows, kContractionColumns};
  for (int64_t i = ranges.size() - 1; i >= 0; --i) {
    if (iterators[i] != utils::IteratorType::parallel)
      continue;
    int64_t size = wanted.empty() ? 1 : wanted.pop_back_val();
    if (ShapedType::isDynamic(ranges[i]) || ranges[i] > size)
      sizes[i] = size;
  }
  return sizes;
}

/// The loops that upstream's tiling handles correctly: each index is a sum of
/// them, without divisions or negative coefficients.
static llvm::SmallBitVector getTileableLoops(linalg::LinalgOp op) {
  llvm::SmallBitVector loops(op.getNumLoops(), true);
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults()) {
      bool onlyAdds = true;
      expr.walk([&](AffineExpr part) {
        auto constant = dyn_cast<AffineConstantExpr>(part);
        onlyAdds &=
            !llvm::is_contained({AffineExprKind::FloorDiv,
                                 AffineExprKind::CeilDiv, AffineExprKind::Mod},
                                part.getKind()) &&
            !(constant && constant.getValue() < 0);
      });
      for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
        if (!onlyAdds && expr.isFunctionOfDim(loop))
          loops.reset(loop);
    }
  return loops;
}

/// Splits `op` into tiles, in parallel if `parallel` is set and the work
/// suffices. Returns the operation on one tile.
static linalg::LinalgOp tile(RewriterBase &rewriter, linalg::LinalgOp op,
                             bool parallel) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  bool isReduction = op.getNumReductionLoops() != 0;
  if (std::optional<int64_t> work = getStaticWork(ranges))
    parallel &= *work >= kMinParallelWork;
  llvm::SmallBitVector innerLoops = getInnerLoops(op);
  bool isTranspose = !isReduction && innerLoops.count() > 1;
  // Without threads a tile only serves the cache.
  if (!parallel && !isReduction && !isTranspose)
    return op;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = isReduction && !isRowReduction(op)
                                   ? tileReduction(ranges, iterators)
                               : isTranspose ? tileTranspose(ranges, innerLoops)
                                             : tileByWork(ranges, iterators);
  llvm::SmallBitVector tileable = getTileableLoops(op);
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (!tileable.test(loop))
      size = 0;
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return op;
  auto options = linalg::LinalgTilingOptions().setTileSizes(sizes);
  if (parallel)
    options.setLoopType(linalg::LinalgTilingLoopType::ParallelLoops);
  FailureOr<linalg::TiledLinalgOp> tiled =
      linalg::tileLinalgOp(rewriter, op, options);
  if (failed(tiled))
    return op;
  rewriter.eraseOp(op);
  return tiled->op;
}

/// `op` as a linalg.generic, if it is a named elementwise operation or
/// reduction. Fills and copies are left to the compiler of the loops, and
/// contractions have their own tiles.
static linalg::LinalgOp generalize(RewriterBase &rewriter,
                                   linalg::LinalgOp op) {
  bool isElementwise = op.getNumParallelLoops() == op.getNumLoops() &&
                       !isa<linalg::FillOp, linalg::CopyOp>(*op);
  if (isa<linalg::GenericOp>(*op) ||
      !(isElementwise || isa<linalg::ReduceOp>(*op)))
    return op;
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  return succeeded(generic) ? cast<linalg::LinalgOp>(**generic) : op;
}

/// The dimensions of an operand of `type`, accessed by `map`, that remain if
/// those of size 1, at index 0, join their neighbors. Nothing if the operand
/// stays as it is.
static std::optional<SmallVector<ReassociationIndices>>
joinUnitDims(MemRefType type, AffineMap map) {
  if (!type.getLayout().isIdentity())
    return std::nullopt;
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices first;
  bool joins = false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (constant && (constant.getValue() != 0 || type.getDimSize(dim) != 1))
      return std::nullopt;
    joins |= constant != nullptr;
    if (!constant)
      groups.emplace_back();
    (groups.empty() ? first : groups.back()).push_back(dim);
  }
  if (!joins)
    return std::nullopt;
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), first.begin(), first.end());
  return groups;
}

/// Lets `op` access operands without their dimensions of size 1, which an
/// exporter keeps for broadcasts: `(0, d1, 0, 0)` becomes `(d1)`.
static void dropUnitDims(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap &map = maps[operand.getOperandNumber()];
    auto groups = type ? joinUnitDims(type, map) : std::nullopt;
    if (!groups)
      continue;
    SmallVector<AffineExpr> kept;
    llvm::copy_if(
        map.getResults(), std::back_inserter(kept),
        [](AffineExpr expr) { return !isa<AffineConstantExpr>(expr); });
    map = AffineMap::get(map.getNumDims(), 0, kept, map.getContext());
    Value joined = memref::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                   operand.get(), *groups);
    rewriter.modifyOpInPlace(op, [&] { operand.set(joined); });
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// `op` with loops joined along which all its operands lie one after the other,
/// so that short rows make long vectors.
static linalg::LinalgOp collapse(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (op.getNumLoops() < 2 || !isa<linalg::GenericOp>(op) ||
      op.hasIndexSemantics() ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        auto buffer = dyn_cast<MemRefType>(type);
        return !buffer || buffer.getLayout().isIdentity();
      }))
    return op;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return op;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!groups.empty() && iterators[loop] == iterators[loop - 1]) {
      ReassociationIndices joined = groups.back();
      joined.push_back(loop);
      if (linalg::areDimSequencesPreserved(maps, joined)) {
        groups.back() = joined;
        continue;
      }
    }
    groups.push_back({loop});
  }
  if (groups.size() == op.getNumLoops())
    return op;
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(collapsed))
    return op;
  rewriter.eraseOp(op);
  return collapsed->collapsedOp;
}

namespace {
struct LinalgToLoopsPass : fad::impl::FadLinalgToLoopsBase<LinalgToLoopsPass> {
  using FadLinalgToLoopsBase::FadLinalgToLoopsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FadLinalgToLoopsBase::getDependentDialects(registry);
    registerFenceEffects(registry);
  }

  void runOnOperation() override {
    if (vectorBits < 0 || vectorBits > kMaxVectorBits ||
        (vectorBits & (vectorBits - 1)) != 0) {
      mlir::emitError(getOperation().getLoc(), "vector-bits is ")
          << static_cast<int64_t>(vectorBits) << "; give a power of two up to "
          << kMaxVectorBits << ", or 0 for loops over elements";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> ops;
    if (failed(collect(ops)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      // Upstream's verifier takes no part of an empty buffer.
      if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
        rewriter.eraseOp(op);
        continue;
      }
      rewriter.setInsertionPoint(op);
      if (vectorBits) {
        op = generalize(rewriter, op);
        if (auto generic = dyn_cast<linalg::GenericOp>(*op))
          dropUnitDims(rewriter, generic);
        op = collapse(rewriter, op);
      }
      rewriter.setInsertionPoint(op);
      Value streams;
      if (auto whole = dyn_cast<linalg::GenericOp>(*op); whole && vectorBits)
        streams = createStreamTest(rewriter, whole, vectorBits);
      linalg::LinalgOp tiled = tile(rewriter, op, parallel);
      rewriter.setInsertionPoint(tiled);
      auto generic = dyn_cast<linalg::GenericOp>(*tiled);
      if (generic && vectorBits && vectorize(rewriter, generic, streams))
        continue;
      if (failed(linalg::linalgOpToLoops(rewriter, tiled))) {
        tiled.emitOpError("has no lowering to loops");
        return signalPassFailure();
      }
      rewriter.eraseOp(tiled);
    }
    RewritePatternSet patterns(&getContext());
    populateVectorLoopPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  /// Replaces `op` by loops over vectors, or that LLVM vectorizes. Returns
  /// whether it did, and says why it did not.
  bool vectorize(RewriterBase &rewriter, linalg::GenericOp op, Value streams) {
    if (succeeded(emitVectorLoops(rewriter, op, vectorBits, streams))) {
      ++numVectors;
      return true;
    }
    if (succeeded(emitReduction(rewriter, op))) {
      ++numReductions;
      return true;
    }
    ++numElements;
    StringRef reason = explainElements(op, vectorBits);
    LDBG() << op.getLoc() << " takes one element at a time, as " << reason;
    emitMissedRemark(op, DEBUG_TYPE, "NotVectorized", reason);
    return false;
  }

  /// Finds all operations to lower, or emits an error for each that has no
  /// lowering.
  LogicalResult collect(SmallVectorImpl<linalg::LinalgOp> &ops) {
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      if (structured && structured.hasPureBufferSemantics())
        ops.push_back(structured);
      else if (structured)
        return op->emitOpError("is on tensors; bufferize it first");
      else if (op->hasTrait<OpTrait::IsTerminator>() ||
               !isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) ||
               isa<linalg::IndexOp>(op))
        return WalkResult::advance();
      else
        return op->emitOpError("has no lowering to loops; decompose it into "
                               "structured operations first");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
