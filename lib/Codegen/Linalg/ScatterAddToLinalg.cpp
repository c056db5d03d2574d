//===- ScatterAddToLinalg.cpp - Lowering of fad.scatter_add ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Utils.h"
#include "Lowerings.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/Slices.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// As a loop
//===----------------------------------------------------------------------===//

/// `sum` with the update of iteration `batch` added at `place`, the indices of
/// the dimensions in `dims`. All operations are on tensor slices, which
/// bufferization updates in place.
static Value addSlice(ImplicitLocOpBuilder &b, ScatterAddOp op,
                      ValueRange batch, ValueRange place, Value sum) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), sum);
  SmallVector<OpFoldResult> offsets(sizes.size(), zero);
  SmallVector<OpFoldResult> updateOffsets(batch.begin(), batch.end());
  SmallVector<OpFoldResult> updateSizes(batch.size(), one);
  SmallVector<int64_t> shape;
  for (int64_t dim : op.getSliceDims()) {
    shape.push_back(op.getInit().getType().getDimSize(dim));
    updateOffsets.push_back(zero);
    updateSizes.push_back(sizes[dim]);
  }
  for (auto [dim, index] : llvm::zip_equal(op.getDims(), place)) {
    offsets[dim] = index;
    sizes[dim] = one;
  }

  auto type = RankedTensorType::get(shape, op.getType().getElementType());
  SmallVector<OpFoldResult> ones(sizes.size(), one);
  SmallVector<OpFoldResult> updateOnes(updateSizes.size(), one);
  Location loc = b.getLoc();
  Value update = extractSlice(b, loc, type, op.getUpdates(), updateOffsets,
                              updateSizes, updateOnes);
  Value slice = extractSlice(b, loc, type, sum, offsets, sizes, ones);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(shape.size()));
  Value added = createGeneric(
      b, update, slice, maps, /*reductions=*/0,
      [](ImplicitLocOpBuilder &inner, ValueRange arguments) -> Value {
        return arith::AddFOp::create(inner, arguments[1], arguments[0]);
      });
  return insertSlice(b, loc, added, sum, offsets, sizes, ones);
}

/// Whether each index of `place` is below its size.
static Value isInside(ImplicitLocOpBuilder &b, ValueRange place,
                      ValueRange sizes) {
  Value inside;
  for (auto [index, size] : llvm::zip_equal(place, sizes)) {
    // A negative index is a large unsigned one.
    Value below =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    inside = inside ? arith::AndIOp::create(b, inside, below) : below;
  }
  return inside;
}

namespace {
/// Replaces fad.scatter_add by a nest of loops over the indices.
struct ScatterAddToLoop : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        b, op.getLoc(),
        tensor::getMixedSizes(b, op.getLoc(), op.getIndices().front()));
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, op.getLoc(), SmallVector<Value>(sizes.size(), zero), sizes,
        SmallVector<Value>(sizes.size(), one), op.getInit(),
        [&](OpBuilder &builder, Location, ValueRange batch, ValueRange sums) {
          return scf::ValueVector{addUpdate(builder, op, batch, sums[0])};
        });
    rewriter.replaceOp(op, nest.results);
    return success();
  }

  /// `sum` with the update of iteration `batch` added, if it has a place.
  static Value addUpdate(OpBuilder &builder, ScatterAddOp op, ValueRange batch,
                         Value sum) {
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    SmallVector<Value> place, sizes;
    for (Value indices : op.getIndices()) {
      Value index = tensor::ExtractOp::create(b, indices, batch);
      if (!index.getType().isIndex())
        index = arith::IndexCastOp::create(b, b.getIndexType(), index);
      place.push_back(index);
    }
    for (int64_t dim : op.getDims())
      sizes.push_back(getValueOrCreateConstantIndexOp(
          b, b.getLoc(),
          tensor::getMixedSize(b, b.getLoc(), op.getInit(), dim)));
    return scf::IfOp::create(
               b, isInside(b, place, sizes),
               [&](OpBuilder &builder, Location loc) {
                 ImplicitLocOpBuilder inner(loc, builder);
                 scf::YieldOp::create(inner,
                                      addSlice(inner, op, batch, place, sum));
               },
               [&](OpBuilder &builder, Location loc) {
                 scf::YieldOp::create(builder, loc, sum);
               })
        .getResult(0);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// As reductions
//===----------------------------------------------------------------------===//

namespace {
/// The lowering of one fad.scatter_add to reductions. The dimensions of the
/// indices are collapsed to one, of `count` updates. The *key* of an update is
/// the number of its place in row-major order, or -1 for an index out of
/// bounds.
class ReductionForm {
public:
  ReductionForm(OpBuilder &builder, ScatterAddOp op)
      : op(op), b(op.getLoc(), builder), slice(op.getSliceDims()),
        rank(op.getType().getRank()) {}

  Value build();

private:
  /// `value` with the dimensions of the indices collapsed to one.
  Value flatten(Value value) {
    return collapseFirst(b, value, op.getBatchRank());
  }
  /// The number of `place` in row-major order; its elements are 64-bit.
  Value linearize(ImplicitLocOpBuilder &inner, ValueRange place);
  /// In a body whose first loops are the dimensions of the result, the number
  /// of the place that the iteration belongs to.
  Value getPlace(ImplicitLocOpBuilder &inner);
  Value computeKeys();
  Value fill(ArrayRef<OpFoldResult> sizes, Value value);
  /// Whether comparing each update with each place is less work than comparing
  /// updates with each other first.
  bool fewPlaces();
  /// Sums up, for each place, the updates with its key.
  Value sumByPlace();
  /// For each row of `rowKeys`, the sum of the updates of that key.
  Value sumByKey(Value rowKeys);
  /// For each place, the first update with its key, or `count`.
  Value findFirst();
  /// Sums up updates with equal keys; then each place reads its sum.
  Value gatherSums();

  AffineMap getMap(unsigned loops, ArrayRef<int64_t> dims) {
    return AffineMap::getMultiDimMapWithTargets(
        loops, SmallVector<unsigned>(dims.begin(), dims.end()), b.getContext());
  }
  Value getConstant(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  /// The neutral element of a sum, which preserves signed zeros.
  Value getNeutral() {
    auto type = cast<FloatType>(op.getType().getElementType());
    return arith::ConstantOp::create(
        b, b.getFloatAttr(type, APFloat::getZero(type.getFloatSemantics(),
                                                 /*Negative=*/true)));
  }

  ScatterAddOp op;
  ImplicitLocOpBuilder b;
  SmallVector<int64_t> slice;
  int64_t rank;
  /// The updates and keys, by their number, the sizes of the dimensions in
  /// `dims`, and the number of updates.
  Value updates, keys, count;
  SmallVector<Value> sizes;
};
} // namespace

Value ReductionForm::linearize(ImplicitLocOpBuilder &inner, ValueRange place) {
  Value number = place.front();
  for (auto [index, size] : llvm::drop_begin(llvm::zip_equal(place, sizes))) {
    number = arith::MulIOp::create(inner, number, size);
    number = arith::AddIOp::create(inner, number, index);
  }
  return number;
}

Value ReductionForm::getPlace(ImplicitLocOpBuilder &inner) {
  SmallVector<Value> place;
  for (int64_t dim : op.getDims())
    place.push_back(arith::IndexCastOp::create(
        inner, inner.getI64Type(), linalg::IndexOp::create(inner, dim)));
  return linearize(inner, place);
}

Value ReductionForm::computeKeys() {
  SmallVector<Value> indices;
  for (Value coordinates : op.getIndices())
    indices.push_back(flatten(coordinates));
  Value none = getConstant(-1);
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), indices.front()), b.getI64Type());
  SmallVector<AffineMap> maps(indices.size() + 1, b.getMultiDimIdentityMap(1));
  return createGeneric(
      b, indices, empty, maps, /*reductions=*/0,
      [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
        SmallVector<Value> place;
        for (Value index : arguments.drop_back()) {
          Type wide = inner.getI64Type();
          if (index.getType().isIndex())
            index = arith::IndexCastOp::create(inner, wide, index);
          else if (index.getType() != wide)
            index = arith::ExtSIOp::create(inner, wide, index);
          place.push_back(index);
        }
        return arith::SelectOp::create(inner, isInside(inner, place, sizes),
                                       linearize(inner, place), none);
      });
}

Value ReductionForm::fill(ArrayRef<OpFoldResult> sizes, Value value) {
  Value empty = tensor::EmptyOp::create(b, sizes, value.getType());
  return linalg::FillOp::create(b, value, empty).getResult(0);
}

bool ReductionForm::fewPlaces() {
  // The assumed value of a dynamic size.
  constexpr double kTypical = 1024;
  auto toNumber = [](int64_t size) {
    return ShapedType::isDynamic(size) ? kTypical : static_cast<double>(size);
  };
  double places = 1, width = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    (llvm::is_contained(slice, dim) ? width : places) *=
        toNumber(op.getType().getDimSize(dim));
  double number =
      toNumber(cast<RankedTensorType>(keys.getType()).getDimSize(0));
  return places * number * width <=
         number * number * width + places * number + places * width;
}

/// `value` where the keys are equal, else `neutral`.
static Value selectIfEqual(ImplicitLocOpBuilder &inner, Value key, Value other,
                           Value value, Value neutral) {
  Value match =
      arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, key, other);
  return arith::SelectOp::create(inner, match, value, neutral);
}

Value ReductionForm::sumByPlace() {
  Value neutral = getNeutral();
  // Loops: the dimensions of the result, then the updates.
  SmallVector<int64_t> updateDims = {rank};
  llvm::append_range(updateDims, slice);
  return createGeneric(
      b, {updates, keys}, op.getInit(),
      {getMap(rank + 1, updateDims), getMap(rank + 1, {rank}),
       getMap(rank + 1, llvm::to_vector(llvm::seq<int64_t>(0, rank)))},
      /*reductions=*/1, [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
        Value term = selectIfEqual(inner, arguments[1], getPlace(inner),
                                   arguments[0], neutral);
        return arith::AddFOp::create(inner, arguments[2], term);
      });
}

Value ReductionForm::sumByKey(Value rowKeys) {
  Value neutral = getNeutral();
  // Loops: the rows, the slice, then the updates.
  int64_t last = slice.size() + 1;
  SmallVector<int64_t> rowDims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  SmallVector<int64_t> updateDims = rowDims;
  updateDims.front() = last;
  SmallVector<OpFoldResult> mixed =
      tensor::getMixedSizes(b, b.getLoc(), updates);
  mixed.front() = tensor::getMixedSize(b, b.getLoc(), rowKeys, 0);
  unsigned loops = last + 1;
  return createGeneric(
      b, {updates, rowKeys, keys}, fill(mixed, neutral),
      {getMap(loops, updateDims), getMap(loops, {0}), getMap(loops, {last}),
       getMap(loops, rowDims)},
      /*reductions=*/1, [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
        Value term = selectIfEqual(inner, arguments[1], arguments[2],
                                   arguments[0], neutral);
        return arith::AddFOp::create(inner, arguments[3], term);
      });
}

Value ReductionForm::findFirst() {
  // Loops: the dimensions in `dims`, then the updates.
  int64_t places = op.getDims().size();
  SmallVector<OpFoldResult> mixed;
  for (int64_t dim : op.getDims())
    mixed.push_back(tensor::getMixedSize(b, b.getLoc(), op.getInit(), dim));
  return createGeneric(
      b, keys, fill(mixed, count),
      {getMap(places + 1, {places}),
       getMap(places + 1, llvm::to_vector(llvm::seq<int64_t>(0, places)))},
      /*reductions=*/1, [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
        auto loop = [&](int64_t dim) -> Value {
          return arith::IndexCastOp::create(
              inner, inner.getI64Type(), linalg::IndexOp::create(inner, dim));
        };
        SmallVector<Value> place =
            llvm::map_to_vector(llvm::seq<int64_t>(0, places), loop);
        Value number = selectIfEqual(
            inner, arguments[0], linearize(inner, place), loop(places), count);
        return arith::MinSIOp::create(inner, arguments[1], number);
      });
}

Value ReductionForm::gatherSums() {
  // There is one row at least, for places without updates to read.
  Value rowKeys = keys;
  if (cast<RankedTensorType>(keys.getType()).getDimSize(0) <= 0)
    rowKeys = tensor::PadOp::create(
        b, Type(), keys, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)}, getConstant(-1));
  Value sums = sumByKey(rowKeys);
  Value first = findFirst();
  Value neutral = getNeutral(), zero = getConstant(0);
  return createGeneric(
      b, first, op.getInit(),
      {getMap(rank, op.getDims()), b.getMultiDimIdentityMap(rank)},
      /*reductions=*/0, [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
        Value found = arith::CmpIOp::create(inner, arith::CmpIPredicate::slt,
                                            arguments[0], count);
        Value row = arith::SelectOp::create(inner, found, arguments[0], zero);
        SmallVector<Value> indices = {
            arith::IndexCastOp::create(inner, inner.getIndexType(), row)};
        for (int64_t dim : slice)
          indices.push_back(linalg::IndexOp::create(inner, dim));
        Value sum = tensor::ExtractOp::create(inner, sums, indices);
        sum = arith::SelectOp::create(inner, found, sum, neutral);
        return arith::AddFOp::create(inner, arguments[1], sum);
      });
}

Value ReductionForm::build() {
  auto toI64 = [&](OpFoldResult size) -> Value {
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      return getConstant(*constant);
    return arith::IndexCastOp::create(b, b.getI64Type(), cast<Value>(size));
  };
  for (int64_t dim : op.getDims())
    sizes.push_back(
        toI64(tensor::getMixedSize(b, b.getLoc(), op.getInit(), dim)));
  updates = flatten(op.getUpdates());
  keys = computeKeys();
  count = toI64(tensor::getMixedSize(b, b.getLoc(), keys, 0));
  return fewPlaces() ? sumByPlace() : gatherSums();
}

namespace {
struct ScatterAddToReductions : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, ReductionForm(rewriter, op).build());
    return success();
  }
};
} // namespace

namespace {
/// Drops updates without elements: upstream's slices and reshapes do not verify
/// if one size is 0 and others are dynamic.
struct DropEmptyScatterAdd : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.addsNothing())
      return rewriter.notifyMatchFailure(op, "may add something");
    rewriter.replaceOp(op, op.getInit());
    return success();
  }
};
} // namespace

void fad::populateScatterAddPatterns(RewritePatternSet &patterns,
                                     bool asReductions) {
  patterns.add<DropEmptyScatterAdd>(patterns.getContext(), /*benefit=*/2);
  if (asReductions)
    patterns.add<ScatterAddToReductions>(patterns.getContext());
  else
    patterns.add<ScatterAddToLoop>(patterns.getContext());
}
