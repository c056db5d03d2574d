//===- LinalgWindow.cpp - Adjoints of windows -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgIndexing.h"
#include "fad/Interfaces/Expr.h"
#include "fad/Interfaces/Slices.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

namespace {
/// One dimension of the operand, read at
/// `stride * pivot + offset + sum of coefficient * loop`.
struct Window {
  int64_t dim;
  AffineExpr index;
  unsigned pivot;
  int64_t stride, offset;
  /// The other loops, their coefficients and extents.
  SmallVector<std::pair<unsigned, int64_t>> others;
  SmallVector<OpFoldResult> otherExtents;
  OpFoldResult pivotExtent;
  /// Whether the other loops have one iteration. The pivot, which stays as it
  /// is, then determines the position of an element.
  bool isTrivial;

  bool mentions(unsigned loop) const {
    return loop == pivot ||
           llvm::is_contained(llvm::make_first_range(others), loop);
  }
};

/// Rewrites one body for the windows of one operand.
class WindowSolver {
public:
  WindowSolver(RewriterBase &rewriter, LinalgOp op, ScalarBody &body,
               Value operand, AffineMap access)
      : rewriter(rewriter), op(op), loc(op.getLoc()), body(body),
        operand(operand), access(access) {}

  AffineMap run(llvm::SmallBitVector &partial);

private:
  /// The window at dimension `dim`, if it can be solved.
  std::optional<Window> findWindow(int64_t dim);
  /// Whether all reads of the body allow the loops of `window` to change.
  bool canRewrite(const Window &window);
  /// Whether `sum` is zero if the operands at the pivots of all windows are.
  bool vanishes(Value sum);
  /// The extent of the loops other than the pivot.
  OpFoldResult getReach(const Window &window);
  /// Gives operand `number` of the body the form that the new loops ask for.
  void rewriteOperand(unsigned number);
  /// The order of the dimensions in which the operand read through `map` is
  /// best stored.
  SmallVector<int64_t> choosePermutation(AffineMap map);
  /// `tensor`, read through `map`, with zeros between its elements along the
  /// dimensions that a pivot indexes.
  Value spread(Value tensor, AffineMap map);
  /// Computes the old loops from the new ones for `linalg.index`, and masks the
  /// sum outside of the old iterations unless it is zero there.
  void rewriteIndices(bool masked);

  RewriterBase &rewriter;
  LinalgOp op;
  Location loc;
  ScalarBody &body;
  Value operand;
  AffineMap access;
  SmallVector<Window> windows;
};
} // namespace

std::optional<Window> WindowSolver::findWindow(int64_t dim) {
  Window window;
  window.dim = dim;
  window.index = access.getResult(dim);
  std::optional<LinearIndex> index = getLinearIndex(window.index);
  if (!index || index->terms.size() < 2 || index->offset < 0)
    return std::nullopt;
  for (auto [other, expr] : llvm::enumerate(access.getResults()))
    for (auto [loop, coefficient] : index->terms)
      if (coefficient < 0 ||
          (static_cast<int64_t>(other) != dim && expr.isFunctionOfDim(loop)))
        return std::nullopt;

  // The pivot is a loop of the result, so that cotangents are dilated, and not
  // the filter. Loops of one iteration need no dilation.
  SmallVector<OpFoldResult> extents;
  for (auto [loop, coefficient] : index->terms)
    extents.push_back(getLoopExtent(rewriter, op, loop));
  auto iterators = op.getIteratorTypesArray();
  auto rate = [&](unsigned term) {
    bool isParallel =
        iterators[index->terms[term].first] == utils::IteratorType::parallel;
    return 2 * !isConstantSize(extents[term], 1) + isParallel;
  };
  unsigned pivot = 0;
  for (unsigned term = 1; term < index->terms.size(); ++term)
    if (rate(term) > rate(pivot))
      pivot = term;
  window.isTrivial = true;
  window.offset = index->offset;
  std::tie(window.pivot, window.stride) = index->terms[pivot];
  window.pivotExtent = extents[pivot];
  for (unsigned term = 0; term < index->terms.size(); ++term) {
    if (term == pivot)
      continue;
    window.others.push_back(index->terms[term]);
    window.otherExtents.push_back(extents[term]);
    window.isTrivial &= isConstantSize(extents[term], 1);
  }
  return window;
}

bool WindowSolver::canRewrite(const Window &window) {
  for (auto [value, map] : llvm::zip(body.operands, body.maps))
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (isa<AffineDimExpr, AffineConstantExpr>(expr))
        continue;
      // The same window of a tensor of the same size is the same position.
      if (expr == window.index &&
          (value == operand || window.isTrivial ||
           (cast<ShapedType>(value.getType()).getDimSize(dim) ==
                cast<ShapedType>(operand.getType()).getDimSize(window.dim) &&
            !cast<ShapedType>(value.getType()).isDynamicDim(dim))))
        continue;
      for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
        if (window.mentions(loop) && expr.isFunctionOfDim(loop))
          return false;
    }
  // The values of the body outside of the old iterations are discarded, but
  // must be defined.
  return window.isTrivial || llvm::all_of(*body.block, [](Operation &op) {
           return isPure(&op) && op.getNumRegions() == 0 &&
                  llvm::none_of(op.getOperandTypes(),
                                llvm::IsaPred<ShapedType>);
         });
}

bool WindowSolver::vanishes(Value sum) {
  if (auto argument = dyn_cast<BlockArgument>(sum)) {
    AffineMap map = body.maps[argument.getArgNumber()];
    return llvm::all_of(windows, [&](const Window &window) {
      return window.isTrivial ||
             llvm::is_contained(map.getResults(),
                                rewriter.getAffineDimExpr(window.pivot));
    });
  }
  Operation *def = sum.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(def))
    return vanishes(def->getOperand(0));
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(def))
    return vanishes(def->getOperand(0)) && vanishes(def->getOperand(1));
  auto isZero = [&](Value value) {
    return matchPattern(value, m_AnyZeroFloat()) || vanishes(value);
  };
  if (auto select = dyn_cast_or_null<arith::SelectOp>(def))
    return isZero(select.getTrueValue()) && isZero(select.getFalseValue());
  // The body of a convolution.
  auto isFactor = [](Value value) {
    if (auto extension = value.getDefiningOp<arith::ExtFOp>())
      value = extension.getIn();
    return isa<BlockArgument>(value);
  };
  auto product = dyn_cast_or_null<arith::MulFOp>(def);
  return product && product == body.sum.getDefiningOp() &&
         isFactor(product.getLhs()) && isFactor(product.getRhs()) &&
         (vanishes(product.getLhs()) || vanishes(product.getRhs()));
}

OpFoldResult WindowSolver::getReach(const Window &window) {
  AffineExpr size = rewriter.getAffineDimExpr(0);
  AffineExpr zero = rewriter.getAffineConstantExpr(0);
  AffineExpr reach = zero;
  SmallVector<OpFoldResult> lasts;
  for (auto [term, extent] : llvm::zip(window.others, window.otherExtents)) {
    // A loop may have no iterations at all.
    auto last = AffineMap::get(1, 0, {size - 1, zero}, rewriter.getContext());
    reach = reach + rewriter.getAffineDimExpr(lasts.size()) * term.second;
    lasts.push_back(
        affine::makeComposedFoldedAffineMax(rewriter, loc, last, extent));
  }
  return affine::makeComposedFoldedAffineApply(rewriter, loc, reach, lasts);
}

SmallVector<int64_t> WindowSolver::choosePermutation(AffineMap map) {
  auto permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, map.getNumResults()));
  if (body.operands.size() != 2)
    return permutation;
  AffineMap other = body.maps[body.maps[0] == map ? 1 : 0];
  // The channels of the operand and the summed channels exchange roles. If
  // there is one of each, they also exchange places, so that the filter keeps
  // the layout of the convolution.
  SmallVector<int64_t> kept, summed;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || llvm::any_of(windows, [&](const Window &window) {
          return window.mentions(loop.getPosition());
        }))
      continue;
    bool inAccess = llvm::is_contained(access.getResults(), expr);
    bool inOther = llvm::is_contained(other.getResults(), expr);
    if (inAccess != inOther)
      (inAccess ? kept : summed).push_back(dim);
  }
  if (kept.size() == 1 && summed.size() == 1)
    std::swap(permutation[kept[0]], permutation[summed[0]]);
  return permutation;
}

Value WindowSolver::spread(Value tensor, AffineMap map) {
  if (llvm::none_of(windows, [&](const Window &window) {
        return !window.isTrivial &&
               llvm::is_contained(map.getResults(),
                                  rewriter.getAffineDimExpr(window.pivot));
      }))
    return tensor;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  SmallVector<OpFoldResult> full = sizes;
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
  AffineExpr x = rewriter.getAffineDimExpr(0), y = rewriter.getAffineDimExpr(1);
  for (const Window &window : windows) {
    if (window.isTrivial)
      continue;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (expr != rewriter.getAffineDimExpr(window.pivot))
        continue;
      OpFoldResult reach = getReach(window);
      offsets[dim] = affine::makeComposedFoldedAffineApply(
          rewriter, loc, x + window.offset, reach);
      full[dim] = affine::makeComposedFoldedAffineApply(
          rewriter, loc, x + y,
          {tensor::getMixedSize(rewriter, loc, operand, window.dim), reach});
      // A dimension of one element has stride 1.
      if (!isConstantSize(sizes[dim], 1))
        strides[dim] = rewriter.getIndexAttr(window.stride);
    }
  }
  Value zeros = makeZeros(rewriter, loc, full, getElementTypeOrSelf(tensor));
  return insertSlice(rewriter, loc, tensor, zeros, offsets, sizes, strides);
}

void WindowSolver::rewriteOperand(unsigned number) {
  AffineMap map = body.maps[number];
  llvm::SmallBitVector reversed(map.getNumResults());
  for (const Window &window : windows)
    for (auto [other, extent] : llvm::zip(window.others, window.otherExtents))
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (expr == rewriter.getAffineDimExpr(other.first) &&
            !isConstantSize(extent, 1))
          reversed.set(dim);
  SmallVector<AffineExpr> exprs(map.getResults());
  Value &tensor = body.operands[number];
  if (reversed.any()) {
    SmallVector<int64_t> permutation = choosePermutation(map);
    tensor = buildReverse(rewriter, loc, tensor, reversed, permutation);
    for (auto [position, dim] : llvm::enumerate(permutation))
      exprs[position] = map.getResult(dim);
    map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  }
  tensor = spread(tensor, map);
  for (const Window &window : windows)
    for (AffineExpr &expr : exprs) {
      if (expr == window.index && !window.isTrivial)
        expr = rewriter.getAffineDimExpr(window.pivot);
      else if (expr == rewriter.getAffineDimExpr(window.pivot))
        for (auto [loop, coefficient] : window.others)
          expr = expr + rewriter.getAffineDimExpr(loop) * coefficient;
    }
  body.maps[number] =
      AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}

void WindowSolver::rewriteIndices(bool masked) {
  SmallVector<IndexOp> indices(body.block->getOps<IndexOp>());
  OpBuilder inside(op.getContext());
  inside.setInsertionPointToStart(body.block.get());
  ImplicitLocOpBuilder b(loc, inside);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value valid;
  auto require = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value holds = arith::CmpIOp::create(b, predicate, lhs, rhs);
    valid = valid ? arith::AndIOp::create(b, valid, holds).getResult() : holds;
  };
  llvm::SmallDenseMap<unsigned, Value> old;
  for (const Window &window : windows) {
    if (window.isTrivial)
      continue;
    // The position minus the contribution of the other loops is a multiple of
    // the stride.
    Value distance = IndexOp::create(b, window.pivot);
    if (window.offset)
      distance = arith::SubIOp::create(b, distance, constant(window.offset));
    for (auto [term, extent] : llvm::zip(window.others, window.otherExtents)) {
      Value last = getLast(b, loc, extent);
      Value index = arith::SubIOp::create(
          b, last, IndexOp::create(b, term.first).getResult());
      old[term.first] = index;
      distance = arith::SubIOp::create(
          b, distance,
          arith::MulIOp::create(b, index, constant(term.second)).getResult());
    }
    Value stride = constant(window.stride);
    Value pivot = arith::DivSIOp::create(b, distance, stride);
    old[window.pivot] = pivot;
    if (!masked)
      continue;
    require(arith::CmpIPredicate::sge, distance, constant(0));
    require(arith::CmpIPredicate::slt, pivot,
            getValueOrCreateConstantIndexOp(b, loc, window.pivotExtent));
    if (window.stride != 1)
      require(arith::CmpIPredicate::eq,
              arith::RemSIOp::create(b, distance, stride), constant(0));
  }
  for (IndexOp index : indices)
    if (Value value = old.lookup(index.getDim()))
      rewriter.replaceOp(index, value);
  if (masked) {
    b.setInsertionPointToEnd(body.block.get());
    ExprBuilder eb(b, loc, body.sum.getType());
    body.sum = select(Expr(eb, valid), Expr(eb, body.sum), Expr(0)).getValue();
  }
  eraseDeadOps(*body.block, body.sum);
}

AffineMap WindowSolver::run(llvm::SmallBitVector &partial) {
  for (int64_t dim = 0; dim < access.getNumResults(); ++dim)
    if (std::optional<Window> window = findWindow(dim))
      if (canRewrite(*window))
        windows.push_back(*window);
  if (windows.empty())
    return access;
  bool masked = !vanishes(body.sum);
  SmallVector<AffineExpr> exprs(access.getResults());
  for (unsigned number : llvm::seq<unsigned>(0, body.operands.size()))
    rewriteOperand(number);
  for (const Window &window : windows) {
    AffineExpr pivot = rewriter.getAffineDimExpr(window.pivot);
    exprs[window.dim] =
        window.isTrivial ? pivot * window.stride + window.offset : pivot;
    partial[window.dim] = window.isTrivial;
  }
  if (!llvm::all_of(windows,
                    [](const Window &window) { return window.isTrivial; }))
    rewriteIndices(masked);
  return AffineMap::get(access.getNumDims(), 0, exprs, access.getContext());
}

AffineMap fad::solveWindows(RewriterBase &rewriter, LinalgOp op,
                            ScalarBody &body, Value operand, AffineMap access,
                            llvm::SmallBitVector &partial) {
  partial.resize(access.getNumResults());
  return WindowSolver(rewriter, op, body, operand, access).run(partial);
}
