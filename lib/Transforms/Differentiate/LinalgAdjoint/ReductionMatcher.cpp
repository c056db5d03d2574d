//===- ReductionMatcher.cpp - Recognition of maxima and products ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionAdjoint.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::linalg;

using Kind = Reduction::Kind;

/// The other operand of `op`, a binary operation, if exactly one is `value`.
static Value getOther(Operation *op, Value value) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if ((lhs == value) == (rhs == value))
    return {};
  return lhs == value ? rhs : lhs;
}

/// If `condition` compares `out` with another value: that value, and whether it
/// is the greater one if the condition holds.
static std::optional<std::pair<Value, bool>> matchComparison(Value condition,
                                                             Value out) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  Value term = compare ? getOther(compare, out) : Value();
  if (!term)
    return std::nullopt;
  std::optional<bool> greater = asksForGreater(compare.getPredicate());
  if (!greater)
    return std::nullopt;
  return std::make_pair(term, *greater == (compare.getLhs() == term));
}

/// Matches `value`, in which `out` is the value yielded by the other
/// iterations.
static std::optional<Reduction> matchCombiner(Value value, Value out) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<Kind> kind;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    kind = Kind::Maximum;
  else if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    kind = Kind::Minimum;
  else if (isa<arith::MulFOp>(op))
    kind = Kind::Product;
  if (kind) {
    Value term = getOther(op, out);
    return term ? std::optional<Reduction>({*kind, term}) : std::nullopt;
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return std::nullopt;
  auto comparison = matchComparison(select.getCondition(), out);
  if (!comparison)
    return std::nullopt;
  auto [term, isGreater] = *comparison;
  bool takesTerm =
      select.getTrueValue() == term && select.getFalseValue() == out;
  bool takesOut =
      select.getTrueValue() == out && select.getFalseValue() == term;
  if (!takesTerm && !takesOut)
    return std::nullopt;
  return Reduction{isGreater == takesTerm ? Kind::Maximum : Kind::Minimum,
                   term};
}

void fad::forEachSource(Block *body, Value value,
                        llvm::function_ref<void(Value)> callback) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Value> visited;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!visited.insert(current).second)
      continue;
    callback(current);
    Operation *def = current.getDefiningOp();
    if (!def || !(def = body->findAncestorOpInBlock(*def)))
      continue;
    def->walk([&](Operation *nested) {
      llvm::append_range(worklist, nested->getOperands());
    });
  }
}

bool fad::readsOtherIterations(LinalgOp op, Value value,
                               ArrayRef<bool> writtenOnce) {
  bool found = false;
  forEachSource(op.getBlock(), value, [&](Value source) {
    auto argument = dyn_cast<BlockArgument>(source);
    if (!argument || argument.getOwner() != op.getBlock())
      return;
    int64_t init =
        static_cast<int64_t>(argument.getArgNumber()) - op.getNumDpsInputs();
    found |= init >= 0 && !writtenOnce[init];
  });
  return found;
}

/// Whether every element of `init` is the constant that leaves the result to
/// the terms.
static bool isNeutral(Value init, Kind kind) {
  if (auto fill = init.getDefiningOp<FillOp>())
    init = fill.getInputs()[0];
  switch (kind) {
  case Kind::Maximum:
    return matchPattern(init, m_NegInfFloat());
  case Kind::Minimum:
    return matchPattern(init, m_PosInfFloat());
  case Kind::Product:
    return matchPattern(init, m_OneFloat());
  }
  return false;
}

/// Whether `value` is the index of the only loop of `op` that `map` leaves out,
/// maybe cast to an integer.
static bool isReducedIndex(LinalgOp op, Value value, AffineMap map) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<IndexOp>();
  if (!index)
    return false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (map.isFunctionOfDim(loop) == (loop == index.getDim()))
      return false;
  return true;
}

/// Finds a result of `op` that is the index of the selected term of
/// `reduction`: the same comparison selects it.
static void findIndex(LinalgOp op, unsigned result, Reduction &reduction) {
  Value out = op.getRegionOutputArgs()[result];
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  ValueRange yielded = op.getBlock()->getTerminator()->getOperands();
  for (auto [other, value] : llvm::enumerate(yielded)) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (!select ||
        op.getMatchingIndexingMap(op.getDpsInitOperand(other)) != map)
      continue;
    auto comparison = matchComparison(select.getCondition(), out);
    if (!comparison || comparison->first != reduction.term)
      continue;
    bool takesTerm = comparison->second == (reduction.kind == Kind::Maximum);
    Value kept = op.getRegionOutputArgs()[other];
    Value position = takesTerm ? select.getTrueValue() : select.getFalseValue();
    Value otherwise =
        takesTerm ? select.getFalseValue() : select.getTrueValue();
    if (otherwise != kept || !isReducedIndex(op, position, map))
      continue;
    reduction.taken = op->getResult(other);
    reduction.position = position;
    return;
  }
}

/// Finds the loops of the window from which the terms of result `result` are
/// read: those that are added to others in the index of a tensor. They have to
/// be all reduction loops, and the positions have to fit into 8 bits.
static void findWindow(LinalgOp op, unsigned result, Reduction &reduction) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<std::pair<unsigned, int64_t>> window;
  int64_t size = 1;
  bool isShared = false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (map.isFunctionOfDim(loop))
      continue;
    if (ShapedType::isDynamic(extents[loop]) || extents[loop] == 0)
      return;
    for (AffineMap access : op.getIndexingMapsArray())
      isShared |= llvm::any_of(access.getResults(), [&](AffineExpr expr) {
        return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop);
      });
    window.emplace_back(loop, extents[loop]);
    size *= extents[loop];
    if (size > 255)
      return;
  }
  if (isShared)
    reduction.window = std::move(window);
}

std::optional<Reduction> fad::matchReduction(LinalgOp op, unsigned result,
                                             ArrayRef<bool> writtenOnce) {
  Value out = op.getRegionOutputArgs()[result];
  if (!getTangentType(out.getType()))
    return std::nullopt;
  std::optional<Reduction> reduction =
      matchCombiner(op.getBlock()->getTerminator()->getOperand(result), out);
  if (!reduction || readsOtherIterations(op, reduction->term, writtenOnce))
    return std::nullopt;
  reduction->hasNeutralInit =
      isNeutral(op.getDpsInitOperand(result)->get(), reduction->kind);
  if (reduction->kind != Kind::Product) {
    findIndex(op, result, *reduction);
    if (!reduction->taken)
      findWindow(op, result, *reduction);
  }
  return reduction;
}
