//===- MakeContiguous.cpp - Copies of rows with gaps ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMAKECONTIGUOUS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether `size` is that of dimension `dim` of `buffer`.
static bool isWhole(OpFoldResult size, Value buffer, int64_t dim) {
  FailureOr<bool> equal =
      ValueBoundsConstraintSet::areEqual({size}, {buffer, dim});
  return succeeded(equal) && *equal;
}

/// Whether `view` takes elements of its source that lie one behind the other,
/// where those of the source do: one element of each dimension before some
/// dimension, and all elements of those behind it.
static bool isWithoutGaps(memref::SubViewOp view) {
  auto isOne = [](OpFoldResult value) { return isConstantIntValue(value, 1); };
  if (!llvm::all_of(view.getMixedStrides(), isOne))
    return false;
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  auto *some = llvm::find_if_not(sizes, isOne);
  if (some == sizes.end())
    return true;
  for (auto *size = std::next(some); size != sizes.end(); ++size)
    if (!isWhole(*size, view.getSource(), size - sizes.begin()))
      return false;
  return true;
}

/// Whether the elements of `buffer` are known to lie one behind the other.
static bool isContiguous(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || type.areTrailingDimsContiguous(type.getRank()))
    return true;
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    return isContiguous(cast.getSource());
  auto view = buffer.getDefiningOp<memref::SubViewOp>();
  return view && isContiguous(view.getSource()) && isWithoutGaps(view);
}

namespace {
struct MakeContiguousPass
    : fad::impl::FadMakeContiguousBase<MakeContiguousPass> {
  using FadMakeContiguousBase::FadMakeContiguousBase;

  void runOnOperation() override {
    getOperation().walk([&](memref::CastOp cast) {
      auto type = dyn_cast<MemRefType>(cast.getType());
      if (type && type.getLayout().isIdentity() &&
          !isContiguous(cast.getSource()))
        replaceByCopy(cast, type);
    });
  }

  void replaceByCopy(memref::CastOp cast, MemRefType type) {
    OpBuilder builder(cast);
    Location loc = cast.getLoc();
    Value source = cast.getSource();
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(builder, loc, source, dim));
    Value copy = memref::AllocOp::create(
        builder, loc, type, sizes,
        alignment ? builder.getI64IntegerAttr(alignment) : IntegerAttr());
    memref::CopyOp::create(builder, loc, source, copy);
    cast.replaceAllUsesWith(copy);
    cast.erase();
  }
};
} // namespace
