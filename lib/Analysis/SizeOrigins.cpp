//===- SizeOrigins.cpp - Origins of the sizes of tensors ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SizeOrigins.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Size fad::asSize(OpFoldResult index) {
  if (std::optional<int64_t> number = getConstantIntValue(index);
      number && *number >= 0)
    return {Value(), *number};
  auto value = dyn_cast<Value>(index);
  if (!value)
    return {Value(), 0};
  auto dim = value.getDefiningOp<tensor::DimOp>();
  auto type = dim ? dyn_cast<RankedTensorType>(dim.getSource().getType())
                  : RankedTensorType();
  std::optional<int64_t> number = type ? dim.getConstantIndex() : std::nullopt;
  if (number && *number >= 0 && *number < type.getRank())
    return {dim.getSource(), *number};
  return {value, kIndex};
}

void fad::visitReified(Size size, llvm::function_ref<void(OpFoldResult)> use) {
  auto result = dyn_cast<OpResult>(size.first);
  if (!result)
    return;
  Block scratch;
  OpBuilder builder(size.first.getContext());
  builder.setInsertionPointToEnd(&scratch);
  FailureOr<OpFoldResult> reified = reifyDimOfResult(
      builder, result.getOwner(), result.getResultNumber(), size.second);
  if (succeeded(reified))
    use(*reified);
}

/// Appends to `sizes` the sizes that a dimension of `result`, of dynamic size,
/// is equal to because of its operation; the one nearest to the origin first.
static void appendEqualSizes(OpResult result, int64_t dim,
                             SmallVectorImpl<Size> &sizes) {
  Operation *op = result.getOwner();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    AffineExpr index =
        structured.getIndexingMapMatchingResult(result).getResult(dim);
    // Other indices do not determine the size.
    if (!isa<AffineDimExpr>(index))
      return sizes.push_back({structured.getTiedOpOperand(result)->get(), dim});
    for (OpOperand &operand : op->getOpOperands())
      for (auto [other, expr] : llvm::enumerate(
               structured.getMatchingIndexingMap(&operand).getResults()))
        if (expr == index)
          sizes.emplace_back(operand.get(), other);
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned index = result.getResultNumber();
    if (areEqual({loop.getYieldedValues()[index], dim},
                 {loop.getRegionIterArgs()[index], dim}))
      sizes.emplace_back(loop.getInitArgs()[index], dim);
    return;
  }
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return sizes.push_back({destination.getTiedOpOperand(result)->get(), dim});
  if (isa<ElementwiseOp, ResidualOp, tensor::CastOp>(op) ||
      op->hasTrait<OpTrait::Elementwise>()) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        sizes.emplace_back(operand, dim);
    return;
  }
  visitReified({result, dim}, [&](OpFoldResult reified) {
    Size size = asSize(reified);
    bool isInFunction = !size.first || size.first.getParentRegion();
    if (isInFunction && size != Size(result, dim))
      sizes.push_back(size);
  });
}

static void appendEqualSizes(Size size, SmallVectorImpl<Size> &sizes) {
  auto [value, dim] = size;
  if (!value)
    return;
  if (dim == kIndex) {
    if (Size same = asSize(value); same != size)
      sizes.push_back(same);
    return;
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  if (!type.isDynamicDim(dim))
    sizes.emplace_back(Value(), type.getDimSize(dim));
  else if (auto result = dyn_cast<OpResult>(value))
    appendEqualSizes(result, dim, sizes);
}

Size SizeOrigins::find(Size size) {
  SmallVector<Size> path, next = {size};
  while (!next.empty()) {
    size = next.front();
    if (auto it = origins.find(size); it != origins.end()) {
      size = it->second;
      break;
    }
    path.push_back(size);
    next.clear();
    appendEqualSizes(size, next);
  }
  for (Size step : path)
    origins[step] = size;
  return size;
}

//===----------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------===//

namespace {
/// For each size of a conditional, whether all branches yield the size asked
/// for. Conditionals come one after the other, and each is read by two branches
/// of the next: without this, time doubles with each of them.
using KnownSizes = llvm::DenseMap<Size, bool>;
} // namespace

static bool areEqual(Size size, Size like, KnownSizes &known);

/// Whether `size` is that of a conditional, and what each of its branches
/// yields has the size `like`.
static bool yieldsEqual(Size size, Size like, KnownSizes &known) {
  Operation *conditional = size.first ? size.first.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<scf::IfOp, scf::IndexSwitchOp>(conditional) ||
      size.second == kIndex)
    return false;
  if (auto it = known.find(size); it != known.end())
    return it->second;
  unsigned index = cast<OpResult>(size.first).getResultNumber();
  return known[size] =
             llvm::all_of(conditional->getRegions(), [&](Region &branch) {
               Value value = branch.front().getTerminator()->getOperand(index);
               return areEqual({value, size.second}, like, known);
             });
}

static bool areEqual(Size size, Size like, KnownSizes &known) {
  SmallVector<Size> worklist = {size};
  llvm::DenseSet<Size> seen;
  while (!worklist.empty()) {
    Size current = worklist.pop_back_val();
    if (current == like || yieldsEqual(current, like, known))
      return true;
    // From outside, no way leads to the argument of a body.
    bool isReachable = !like.first || !current.first ||
                       like.first.getParentRegion()->isAncestor(
                           current.first.getParentRegion());
    if (isReachable && seen.insert(current).second)
      appendEqualSizes(current, worklist);
  }
  if (!size.first && !like.first)
    return false;
  using Bounds = ValueBoundsConstraintSet;
  auto getVariable = [&](Size of) {
    if (of.first)
      return Bounds::Variable(of.first, of.second == kIndex
                                            ? std::nullopt
                                            : std::optional(of.second));
    Builder builder((size.first ? size : like).first.getContext());
    return Bounds::Variable(builder.getIndexAttr(of.second));
  };
  FailureOr<bool> equal =
      Bounds::areEqual(getVariable(size), getVariable(like));
  return succeeded(equal) && *equal;
}

bool fad::areEqual(Size size, Size other) {
  KnownSizes known;
  return ::areEqual(size, SizeOrigins().find(other), known);
}
