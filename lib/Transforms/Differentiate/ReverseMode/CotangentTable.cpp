//===- CotangentTable.cpp - Cotangents found so far -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentTable.h"
#include "fad/Analysis/SizeOrigins.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/AdjointOpInterface.h"
#include "fad/Interfaces/Slices.h"

using namespace mlir;
using namespace mlir::fad;

/// The sum of two values of one type.
static Value createSum(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (!isa<RankedTensorType>(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  auto addTerms = [](OpBuilder &b, Location loc, ValueRange terms) {
    Value sum = arith::AddFOp::create(b, loc, terms[0], terms[1]);
    return SmallVector<Value>{sum};
  };
  return ElementwiseOp::create(builder, loc, ValueRange{lhs, rhs}, addTerms)
      ->getResult(0);
}

void CotangentTable::add(Value value, Value cotangent) {
  Value &sum = sums[value].whole;
  sum = sum ? createSum(*builder, value.getLoc(), sum, cotangent) : cotangent;
}

void CotangentTable::addSlice(tensor::ExtractSliceOp slice, Value cotangent) {
  sums[slice.getSource()].slices.push_back({slice, cotangent});
}

void CotangentTable::addElement(tensor::ExtractOp element, Value cotangent) {
  sums[element.getTensor()].elements.push_back({element, cotangent});
}

Value CotangentTable::take(Value value) {
  auto it = sums.find(value);
  if (it == sums.end())
    return {};
  Sum sum = std::move(it->second);
  sums.erase(it);
  if (!sum.slices.empty())
    sum.whole = addSlices(value, sum);
  return sum.elements.empty() ? sum.whole : addElements(value, sum);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The whole sum: each element is added at its place.
Value CotangentTable::addElements(Value value, const Sum &sum) {
  OpBuilder &b = *builder;
  Location loc = value.getLoc();
  bool anyBefore = sum.whole != nullptr;
  Value whole = anyBefore ? sum.whole : makeZerosLike(b, loc, value);
  for (const Element &element : sum.elements) {
    ValueRange place = tensor::ExtractOp(element.op).getIndices();
    Value term = element.cotangent;
    // In a tensor of zeros, the first element is the sum.
    if (std::exchange(anyBefore, true))
      term = createSum(b, loc, tensor::ExtractOp::create(b, loc, whole, place),
                       term);
    whole = tensor::InsertOp::create(b, loc, term, whole, place);
  }
  return whole;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Whether `slice` covers dimension `dim`.
static bool takesAll(tensor::ExtractSliceOp slice, int64_t dim) {
  if (!isConstantIntValue(slice.getMixedOffsets()[dim], 0) ||
      !isConstantIntValue(slice.getMixedStrides()[dim], 1))
    return false;
  return areEqual(asSize(slice.getMixedSizes()[dim]), {slice.getSource(), dim});
}

namespace {
/// The part of one dimension in a slice.
struct Interval {
  int64_t begin, end;
};
} // namespace

/// The part of dimension `dim` in `slice`, if it is known and contiguous.
static std::optional<Interval> getInterval(tensor::ExtractSliceOp slice,
                                           int64_t dim) {
  std::optional<int64_t> begin =
      getConstantIntValue(slice.getMixedOffsets()[dim]);
  std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[dim]);
  if (!begin || !size || !isConstantIntValue(slice.getMixedStrides()[dim], 1))
    return std::nullopt;
  return Interval{*begin, *begin + *size};
}

/// Whether `slices`, of one tensor, partition it along one dimension.
bool CotangentTable::arePartition(ArrayRef<Slice> slices) {
  tensor::ExtractSliceOp first = slices.front().op;
  RankedTensorType type = first.getSourceType();
  std::optional<int64_t> cut;
  for (int64_t dim : llvm::seq(type.getRank())) {
    if (llvm::all_of(slices, [&](const Slice &slice) {
          return takesAll(slice.op, dim);
        }))
      continue;
    if (cut || type.isDynamicDim(dim))
      return false;
    cut = dim;
  }
  if (!cut)
    return slices.size() == 1;
  SmallVector<Interval> pieces;
  for (const Slice &slice : slices) {
    std::optional<Interval> piece = getInterval(slice.op, *cut);
    if (!piece)
      return false;
    pieces.push_back(*piece);
  }
  llvm::sort(pieces, [](const Interval &a, const Interval &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t end = 0;
  for (const Interval &piece : pieces)
    if (std::exchange(end, piece.end) != piece.begin)
      return false;
  return end == type.getDimSize(*cut);
}

/// Whether two slices of one tensor may overlap.
bool CotangentTable::overlap(const Slice &first, const Slice &second) {
  tensor::ExtractSliceOp a = first.op, b = second.op;
  for (int64_t dim : llvm::seq(a.getSourceType().getRank())) {
    std::optional<Interval> one = getInterval(a, dim);
    std::optional<Interval> other = getInterval(b, dim);
    if (one && other && (one->end <= other->begin || other->end <= one->begin))
      return false;
  }
  return true;
}

/// The whole sum: each slice is added at its place, or written if no other
/// overlaps it.
Value CotangentTable::addSlices(Value value, const Sum &sum) {
  OpBuilder &b = *builder;
  // Comparing all pairs takes quadratic time.
  constexpr size_t maxCompared = 64;
  Location loc = value.getLoc();
  bool partition = !sum.whole && arePartition(sum.slices);
  Value whole = sum.whole;
  if (partition) {
    auto type = cast<RankedTensorType>(value.getType());
    whole = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, value), type.getElementType());
    if (whole.getType() != type)
      whole = tensor::CastOp::create(b, loc, type, whole);
  } else if (!whole) {
    whole = makeZerosLike(b, loc, value);
  }
  ArrayRef<Slice> slices = sum.slices;
  for (size_t index = 0; index < slices.size(); ++index) {
    const Slice &slice = slices[index];
    tensor::ExtractSliceOp op = slice.op;
    bool first =
        partition ||
        (!sum.whole && index < maxCompared &&
         llvm::none_of(
             slices.take_front(index),
             [&](const Slice &earlier) { return overlap(earlier, slice); }));
    Value term = slice.cotangent;
    if (!first) {
      Value part =
          extractSlice(b, loc, op.getResultType(), whole, op.getMixedOffsets(),
                       op.getMixedSizes(), op.getMixedStrides());
      term = createSum(b, loc, part, term);
    }
    whole = insertSlice(b, loc, term, whole, op.getMixedOffsets(),
                        op.getMixedSizes(), op.getMixedStrides());
  }
  return whole;
}
