//===- GatherScatter.cpp - Loops in place of tensor.gather and scatter ----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Slices.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Common parts of gather and scatter
//===----------------------------------------------------------------------===//

/// For each dimension of the whole tensor, the dimension of the tensor of
/// slices, of rank `rank`, that runs over it; nothing for those in `indexed`.
/// The slices come after `batchRank` dimensions, and `whole` is the rank of the
/// whole tensor.
static SmallVector<std::optional<int64_t>>
getSliceDims(int64_t rank, int64_t batchRank, int64_t whole,
             ArrayRef<int64_t> indexed) {
  bool keepsUnitDims = rank == batchRank + whole;
  int64_t next = batchRank;
  SmallVector<std::optional<int64_t>> dims(whole);
  for (int64_t dim : llvm::seq(whole)) {
    bool isIndexed = llvm::is_contained(indexed, dim);
    if (!isIndexed)
      dims[dim] = next;
    next += keepsUnitDims || !isIndexed;
  }
  return dims;
}

/// The coordinates in `indices` at `place`.
static SmallVector<Value> readCoordinates(OpBuilder &b, Location loc,
                                          Value indices, ValueRange place) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<Value> position(place), coordinates;
  for (int64_t number : llvm::seq(type.getShape().back())) {
    position.push_back(arith::ConstantIndexOp::create(b, loc, number));
    Value index = tensor::ExtractOp::create(b, loc, indices, position);
    position.pop_back();
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
    coordinates.push_back(index);
  }
  return coordinates;
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

namespace {
/// tensor.gather to a loop over the elements of its result.
struct LowerGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value init =
        tensor::EmptyOp::create(rewriter, loc, getSizes(op, rewriter),
                                type.getElementType(), type.getEncoding());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto body = [&](OpBuilder &inside, Location, ValueRange) {
      Value element = readElement(op, inside);
      linalg::YieldOp::create(inside, loc, element);
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, init.getType(), ValueRange(), init,
        rewriter.getMultiDimIdentityMap(type.getRank()), iterators, body);
    return success();
  }

private:
  /// The number of dimensions of the result that select the place to read.
  static int64_t getBatchRank(tensor::GatherOp op) {
    return op.getIndices().getType().getRank() - 1;
  }

  static SmallVector<std::optional<int64_t>> getDims(tensor::GatherOp op) {
    return getSliceDims(op.getResult().getType().getRank(), getBatchRank(op),
                        op.getSource().getType().getRank(), op.getGatherDims());
  }

  static SmallVector<OpFoldResult> getSizes(tensor::GatherOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes(op.getResult().getType().getRank(),
                                    b.getIndexAttr(1));
    for (int64_t dim : llvm::seq(getBatchRank(op)))
      sizes[dim] = tensor::getMixedSize(b, loc, op.getIndices(), dim);
    for (auto [dim, position] : llvm::enumerate(getDims(op)))
      if (position)
        sizes[*position] = tensor::getMixedSize(b, loc, op.getSource(), dim);
    return sizes;
  }

  static Value readElement(tensor::GatherOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    SmallVector<Value> place;
    for (int64_t dim : llvm::seq(getBatchRank(op)))
      place.push_back(linalg::IndexOp::create(b, loc, dim));
    SmallVector<Value> position(op.getSource().getType().getRank());
    for (auto [dim, slice] : llvm::enumerate(getDims(op)))
      if (slice)
        position[dim] = linalg::IndexOp::create(b, loc, *slice);
    SmallVector<Value> coordinates =
        readCoordinates(b, loc, op.getIndices(), place);
    for (auto [dim, index] : llvm::zip(op.getGatherDims(), coordinates))
      position[dim] = index;
    return tensor::ExtractOp::create(b, loc, op.getSource(), position);
  }
};
} // namespace

void fad::populateGatherPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGather>(patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites tensor.scatter to loops over the indices, which insert one slice
/// each.
struct LowerScatter : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ScatterOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getIndices()));
    sizes.pop_back();
    SmallVector<Value> starts(sizes.size(), zero), steps(sizes.size(), one);
    auto body = [&](OpBuilder &inside, Location, ValueRange place,
                    ValueRange results) {
      return scf::ValueVector{insert(op, inside, place, results.front())};
    };
    if (sizes.empty()) {
      rewriter.replaceOp(op, insert(op, rewriter, {}, op.getDest()));
      return success();
    }
    scf::LoopNest nest = scf::buildLoopNest(rewriter, loc, starts, sizes, steps,
                                            op.getDest(), body);
    rewriter.replaceOp(op, nest.results);
    return success();
  }

private:
  /// `result` with the slice for the indices at `place`.
  static Value insert(tensor::ScatterOp op, OpBuilder &b, ValueRange place,
                      Value result) {
    Location loc = op.getLoc();
    auto sourceType = op.getSource().getType();
    int64_t rank = op.getDest().getType().getRank();
    OpFoldResult one = b.getIndexAttr(1);
    SmallVector<OpFoldResult> from(sourceType.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> fromSizes(sourceType.getRank(), one);
    SmallVector<OpFoldResult> to(rank, b.getIndexAttr(0)), toSizes(rank, one);
    SmallVector<int64_t> shape;
    for (auto [dim, index] : llvm::enumerate(place))
      from[dim] = index;
    for (auto [dim, slice] : llvm::enumerate(getSliceDims(
             sourceType.getRank(), place.size(), rank, op.getScatterDims()))) {
      if (!slice)
        continue;
      fromSizes[*slice] = toSizes[dim] =
          tensor::getMixedSize(b, loc, op.getSource(), *slice);
      shape.push_back(sourceType.getDimSize(*slice));
    }
    SmallVector<Value> coordinates =
        readCoordinates(b, loc, op.getIndices(), place);
    for (auto [dim, index] : llvm::zip(op.getScatterDims(), coordinates))
      to[dim] = index;

    auto type = RankedTensorType::get(shape, sourceType.getElementType());
    SmallVector<OpFoldResult> fromSteps(from.size(), one), toSteps(rank, one);
    Value slice =
        extractSlice(b, loc, type, op.getSource(), from, fromSizes, fromSteps);
    return insertSlice(b, loc, slice, result, to, toSizes, toSteps);
  }
};
} // namespace

void fad::populateScatterPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerScatter>(patterns.getContext());
}
