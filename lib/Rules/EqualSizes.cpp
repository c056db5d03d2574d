//===- EqualSizes.cpp - Tensors of equal sizes ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// A dimension of a tensor.
using Size = std::pair<Value, int64_t>;
/// For each size of a conditional, whether all branches yield the size asked
/// for. Conditionals come one after the other, and each is read by two branches
/// of the next: without this, time doubles with each of them.
using KnownSizes = llvm::DenseMap<Size, bool>;
} // namespace

static bool haveEqualSize(Value value, Size like, KnownSizes &known);

/// Appends to `sizes` sizes that are equal to `size` because of the operation
/// that computes the tensor.
static void appendEqualSizes(Size size, SmallVectorImpl<Size> &sizes) {
  auto [value, dim] = size;
  Operation *def = value.getDefiningOp();
  if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(def)) {
    AffineMap map =
        structured.getIndexingMapMatchingResult(cast<OpResult>(value));
    for (OpOperand &operand : def->getOpOperands())
      for (auto [other, expr] : llvm::enumerate(
               structured.getMatchingIndexingMap(&operand).getResults()))
        if (isa<AffineDimExpr>(expr) && expr == map.getResult(dim))
          sizes.emplace_back(operand.get(), other);
    return;
  }
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(def)) {
    if (!empty.getType().isDynamicDim(dim))
      return;
    auto source = empty.getDynamicSize(dim).getDefiningOp<tensor::DimOp>();
    if (source && source.getConstantIndex())
      sizes.emplace_back(source.getSource(), *source.getConstantIndex());
    return;
  }
  if (auto loop = dyn_cast_or_null<scf::ForOp>(def)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    KnownSizes known;
    if (haveEqualSize(loop.getYieldedValues()[index],
                      {loop.getRegionIterArgs()[index], dim}, known))
      sizes.emplace_back(loop.getInitArgs()[index], dim);
    return;
  }
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(def))
    sizes.emplace_back(
        destination.getTiedOpOperand(cast<OpResult>(value))->get(), dim);
  else if (auto insert = dyn_cast_or_null<tensor::InsertOp>(def))
    sizes.emplace_back(insert.getDest(), dim);
  else if (def && (isa<fad::ElementwiseOp, tensor::CastOp>(def) ||
                   OpTrait::hasElementwiseMappableTraits(def)))
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        sizes.emplace_back(operand, dim);
}

/// Whether `size` is that of a conditional, and what each of its branches
/// yields has the size `like`.
static bool areAllEqual(Size size, Size like, KnownSizes &known) {
  Operation *conditional = size.first.getDefiningOp();
  if (!isa_and_nonnull<scf::IfOp, scf::IndexSwitchOp>(conditional) ||
      size.second != like.second)
    return false;
  if (auto it = known.find(size); it != known.end())
    return it->second;
  unsigned index = cast<OpResult>(size.first).getResultNumber();
  bool equal = llvm::all_of(conditional->getRegions(), [&](Region &branch) {
    Value yielded = branch.front().getTerminator()->getOperand(index);
    return haveEqualSize(yielded, like, known);
  });
  known[size] = equal;
  return equal;
}

/// Whether the dimension of `like` and the same one of `value` are equal by the
/// way that `value` is computed from the tensor of `like`.
static bool haveEqualSize(Value value, Size like, KnownSizes &known) {
  int64_t dim = like.second;
  SmallVector<Size> worklist = {{value, dim}};
  llvm::DenseSet<Size> seen;
  while (!worklist.empty()) {
    Size size = worklist.pop_back_val();
    if (size == like || areAllEqual(size, like, known))
      return true;
    if (seen.insert(size).second)
      appendEqualSizes(size, worklist);
  }
  using Bounds = ValueBoundsConstraintSet;
  FailureOr<bool> equal = Bounds::areEqual(Bounds::Variable(value, dim),
                                           Bounds::Variable(like.first, dim));
  return succeeded(equal) && *equal;
}

bool fad::haveEqualSizes(Value value, Value like) {
  auto type = cast<RankedTensorType>(value.getType());
  return llvm::all_of(llvm::seq(type.getRank()), [&](int64_t dim) {
    KnownSizes known;
    return !type.isDynamicDim(dim) || haveEqualSize(value, {like, dim}, known);
  });
}
