//===- Im2col.cpp - Sums over windows to matmuls --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

namespace mlir::fad {
#define GEN_PASS_DEF_FADIM2COL
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The loops of a convolution in the roles of a matmul's: rows are those of the
/// filter alone, columns those of the image alone; the others are summed.
struct MatmulLoops {
  SmallVector<unsigned> rows, columns, summed;
};

/// Rewrites one convolution that has no name, among those that are wanted.
class Im2col : public OpRewritePattern<linalg::GenericOp> {
public:
  Im2col(MLIRContext *context, function_ref<bool(linalg::LinalgOp)> isWanted)
      : OpRewritePattern(context), isWanted(isWanted) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;

private:
  function_ref<bool(linalg::LinalgOp)> isWanted;
};
} // namespace

static bool readsLoop(AffineMap map, unsigned loop) {
  return llvm::is_contained(map.getResults(),
                            getAffineDimExpr(loop, map.getContext()));
}

/// The loops that index `map`, which is a projected permutation, in its order.
static SmallVector<unsigned> getLoops(AffineMap map) {
  return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition();
  });
}

/// Whether a size of `type` is known to be 0.
static bool hasNoElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && llvm::is_contained(shaped.getShape(), 0);
}

/// Whether `op` sums products of an image, read in windows, and a filter of the
/// same element type. Empty shapes are excluded: sizes of 0 beside dynamic ones
/// collapse to types that do not verify.
static bool isConvolution(linalg::LinalgOp op) {
  auto isaPair = [](Operation *first, Operation *second) {
    return isa<arith::MulFOp>(first) && isa<arith::AddFOp>(second);
  };
  return op.hasPureTensorSemantics() && op.getNumDpsInputs() == 2 &&
         op.getNumDpsInits() == 1 && linalg::isaConvolutionOpInterface(op) &&
         !op.getIndexingMapsArray()[0].isProjectedPermutation() &&
         llvm::none_of(op->getOperandTypes(), hasNoElements) &&
         llvm::all_equal(llvm::map_range(
             op->getOperands(),
             [](Value value) { return getElementTypeOrSelf(value); })) &&
         linalg::detail::isContractionBody(*op.getBlock(), isaPair);
}

/// The loops of `op`, unless image, filter and result share channels, or a
/// group is empty.
static FailureOr<MatmulLoops> classifyLoops(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  MatmulLoops loops;
  for (unsigned loop : getLoops(maps[1])) {
    bool inImage = maps[0].isFunctionOfDim(loop);
    if (readsLoop(maps[2], loop) == inImage)
      return failure();
    (inImage ? loops.summed : loops.rows).push_back(loop);
  }
  for (unsigned loop : getLoops(maps[2]))
    if (!readsLoop(maps[1], loop))
      loops.columns.push_back(loop);
  unsigned count =
      loops.rows.size() + loops.columns.size() + loops.summed.size();
  if (count != op.getNumLoops() || loops.rows.empty() ||
      loops.columns.empty() || loops.summed.empty())
    return failure();
  return loops;
}

/// The extents of `loops` in `op`, each of which indexes the filter or the
/// result alone in a dimension.
static SmallVector<OpFoldResult>
getExtents(OpBuilder &builder, linalg::GenericOp op, ArrayRef<unsigned> loops) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned loop : loops)
    for (unsigned operand : {1, 2}) {
      AffineMap map = op.getIndexingMapsArray()[operand];
      if (!readsLoop(map, loop))
        continue;
      unsigned dim = *map.getResultPosition(builder.getAffineDimExpr(loop));
      sizes.push_back(tensor::getMixedSize(builder, op.getLoc(),
                                           op->getOperand(operand), dim));
      break;
    }
  return sizes;
}

/// Operand `number` of `op` with a dimension for each loop in `loops`.
static Value gather(OpBuilder &builder, linalg::GenericOp op, unsigned number,
                    ArrayRef<unsigned> loops) {
  Location loc = op.getLoc();
  Value operand = op->getOperand(number);
  Value empty =
      tensor::EmptyOp::create(builder, loc, getExtents(builder, op, loops),
                              getElementTypeOrSelf(operand));
  SmallVector<AffineExpr> renumbering(op.getNumLoops(),
                                      builder.getAffineConstantExpr(0));
  for (auto [position, loop] : llvm::enumerate(loops))
    renumbering[loop] = builder.getAffineDimExpr(position);
  unsigned rank = loops.size();
  AffineMap map = op.getIndexingMapsArray()[number].replaceDimsAndSymbols(
      renumbering, {}, rank, 0);
  if (map.isIdentity())
    return operand;
  ImplicitLocOpBuilder b(loc, builder);
  return createGeneric(
      b, operand, empty, {map, builder.getMultiDimIdentityMap(rank)},
      /*reductions=*/0, [](ImplicitLocOpBuilder &, ValueRange arguments) {
        return arguments[0];
      });
}

/// `tensor` as a matrix, the first `split` dimensions of which are one.
static Value collapse(OpBuilder &builder, Location loc, Value tensor,
                      unsigned split) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank == 2)
    return tensor;
  SmallVector<ReassociationIndices> groups = {
      llvm::to_vector<2>(llvm::seq<int64_t>(0, split)),
      llvm::to_vector<2>(llvm::seq<int64_t>(split, rank))};
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

/// The matmul of the transposed `filter` and `image`, added to a matrix of
/// `value`s.
static Value multiply(OpBuilder &builder, Location loc, Value filter,
                      Value image, Value value) {
  Value empty =
      tensor::EmptyOp::create(builder, loc,
                              {tensor::getMixedSize(builder, loc, filter, 1),
                               tensor::getMixedSize(builder, loc, image, 1)},
                              value.getType());
  Value init = linalg::FillOp::create(builder, loc, value, empty).getResult(0);
  AffineExpr row, column, sum;
  bindDims(builder.getContext(), row, column, sum);
  auto getMap = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(3, 0, {first, second}, builder.getContext());
  };
  SmallVector<AffineMap> maps = {getMap(sum, row), getMap(sum, column),
                                 getMap(row, column)};
  NamedAttribute indexing = builder.getNamedAttr(
      "indexing_maps", builder.getAffineMapArrayAttr(maps));
  return linalg::MatmulOp::create(builder, loc, init.getType(),
                                  ValueRange{filter, image}, init, indexing)
      .getResult(0);
}

LogicalResult Im2col::matchAndRewrite(linalg::GenericOp op,
                                      PatternRewriter &rewriter) const {
  if (!isConvolution(op) || !isWanted(op))
    return rewriter.notifyMatchFailure(op, "is no convolution to rewrite");
  FailureOr<MatmulLoops> loops = classifyLoops(op);
  if (failed(loops))
    return rewriter.notifyMatchFailure(op, "has loops that a matmul has not");
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  if (!fill)
    return rewriter.notifyMatchFailure(op, "is added to an unknown tensor");

  Location loc = op.getLoc();
  auto append = [](ArrayRef<unsigned> first, ArrayRef<unsigned> second) {
    SmallVector<unsigned> all(first);
    llvm::append_range(all, second);
    return all;
  };
  unsigned split = loops->summed.size();
  Value filter = collapse(
      rewriter, loc,
      gather(rewriter, op, 1, append(loops->summed, loops->rows)), split);
  Value image = collapse(
      rewriter, loc,
      gather(rewriter, op, 0, append(loops->summed, loops->columns)), split);
  Value result = multiply(rewriter, loc, filter, image, fill.value());

  SmallVector<unsigned> order = append(loops->rows, loops->columns);
  SmallVector<OpFoldResult> sizes = getExtents(rewriter, op, order);
  unsigned rows = loops->rows.size();
  int64_t rank = order.size();
  if (rank != 2) {
    SmallVector<ReassociationIndices> groups = {
        llvm::to_vector<2>(llvm::seq<int64_t>(0, rows)),
        llvm::to_vector<2>(llvm::seq<int64_t>(rows, rank))};
    SmallVector<int64_t> shape;
    std::tie(shape, std::ignore) = decomposeMixedValues(sizes);
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(result));
    result = tensor::ExpandShapeOp::create(rewriter, loc, type, result, groups,
                                           sizes);
  }
  SmallVector<int64_t> permutation;
  for (unsigned loop : getLoops(op.getIndexingMapsArray()[2]))
    permutation.push_back(llvm::find(order, loop) - order.begin());
  if (!isIdentityPermutation(permutation)) {
    Value empty = tensor::EmptyOp::create(rewriter, loc,
                                          applyPermutation(sizes, permutation),
                                          getElementTypeOrSelf(result));
    result =
        linalg::TransposeOp::create(rewriter, loc, result, empty, permutation)
            .getResult()[0];
  }
  if (result.getType() != op.getResultTypes()[0])
    result =
        tensor::CastOp::create(rewriter, loc, op.getResultTypes()[0], result);
  rewriter.replaceOp(op, result);
  return success();
}

/// Replaces each index of `image`, the map of the first operand of `op`, by the
/// one loop in it that has more than one iteration, if the whole dimension is
/// accessed by it. Fails if another one is left.
static LogicalResult dropWindow(linalg::LinalgOp op, AffineMap &image) {
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> loops;
  for (auto [loop, range] : llvm::enumerate(ranges))
    loops.push_back(range == 1 ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(loop, context));
  auto type = cast<ShapedType>(op->getOperand(0).getType());
  SmallVector<AffineExpr> results(image.getResults());
  for (auto [dim, result] : llvm::enumerate(results)) {
    if (isa<AffineDimExpr>(result))
      continue;
    result = result.replaceDims(loops);
    auto loop = dyn_cast<AffineDimExpr>(result);
    if (!loop || type.isDynamicDim(dim) ||
        ranges[loop.getPosition()] != type.getDimSize(dim))
      return failure();
  }
  image = AffineMap::get(image.getNumDims(), 0, results, context);
  return success();
}

namespace {
struct Im2colPass : fad::impl::FadIm2colBase<Im2colPass> {
  using FadIm2colBase::FadIm2colBase;

  void runOnOperation() override {
    auto isWanted = [this](linalg::LinalgOp op) { return hasSizeAndType(op); };
    if (named) {
      dropWindowsOfOneElement();
      generalizeNamed(isWanted);
    }
    RewritePatternSet patterns(&getContext());
    patterns.add<Im2col>(&getContext(), isWanted);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }

  bool hasSizeAndType(linalg::LinalgOp op) {
    std::string type;
    llvm::raw_string_ostream(type) << getElementTypeOrSelf(op->getOperand(0));
    if (!types.empty() && !llvm::is_contained(types, type))
      return false;
    int64_t products = 1;
    for (int64_t range : op.getStaticLoopRanges()) {
      if (ShapedType::isDynamic(range))
        return minProducts != std::numeric_limits<int64_t>::max();
      products *= range;
    }
    return products >= minProducts;
  }

  /// Makes convolutions whose windows have one element, or one position, the
  /// products of matrices that they are.
  void dropWindowsOfOneElement() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isConvolution(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      if (failed(dropWindow(op, maps[0])))
        continue;
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic)
        generic = *linalg::generalizeNamedOp(rewriter, op);
      rewriter.modifyOpInPlace(generic, [&] {
        generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
    }
  }

  /// Takes the names of convolutions that will be rewritten.
  void generalizeNamed(function_ref<bool(linalg::LinalgOp)> isWanted) {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op) && isConvolution(op) && isWanted(op) &&
          succeeded(classifyLoops(op)) &&
          op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }
};
} // namespace
