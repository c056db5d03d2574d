//===- ResultAlternatives.cpp - Results from other results ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultAlternatives.h"
#include "fad/Analysis/TargetTimes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

/// What computes a result from others is no longer than this: many results may
/// have the same long chain behind them.
static constexpr unsigned kMaxSlice = 64;

namespace {
/// A computation in the body of an `fad.elementwise`, from what it yields.
struct Slice {
  /// The scalars that it begins with: yielded ones, and arguments of the body.
  llvm::SmallSetVector<Value, 2> scalars;
  /// In the order of the body, once it is found.
  llvm::SmallSetVector<Operation *, 8> ops;
};

/// The results of an `fad.elementwise`, by what its body yields for them.
struct YieldedResults {
  explicit YieldedResults(ElementwiseOp op)
      : op(op), yielded(op.getYield().getValues()),
        hasLongBody(llvm::hasNItemsOrMore(*op.getBodyBlock(), kMaxSlice + 2)) {
    for (auto [number, scalar] : llvm::enumerate(yielded))
      numberOf.try_emplace(scalar, number);
  }

  ElementwiseOp op;
  ValueRange yielded;
  llvm::DenseMap<Value, unsigned> numberOf;
  /// Whether each slice is but a part of the body.
  bool hasLongBody;
};
} // namespace

/// How `result` is computed from other results and, where these do not
/// suffice, operands; `nullopt` where that is all that the operation does, or
/// takes long.
static std::optional<Slice> findSlice(const YieldedResults &results,
                                      unsigned result) {
  ElementwiseOp op = results.op;
  Value wanted = results.yielded[result];
  Slice slice;
  bool readsResults = false;
  SmallVector<Value> worklist = {wanted};
  while (!worklist.empty()) {
    Value scalar = worklist.pop_back_val();
    Operation *def = scalar.getDefiningOp();
    bool isOtherResult = def && scalar != wanted &&
                         !matchPattern(def, m_Constant()) &&
                         results.numberOf.contains(scalar);
    readsResults |= isOtherResult;
    if (!def || isOtherResult)
      slice.scalars.insert(scalar);
    else if (slice.ops.insert(def))
      llvm::append_range(worklist, def->getOperands());
    if (slice.ops.size() > kMaxSlice)
      return std::nullopt;
  }
  SmallVector<Operation *> ops = slice.ops.takeVector();
  llvm::sort(ops, [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  });
  slice.ops.insert_range(ops);
  bool isShorter =
      results.hasLongBody ||
      !llvm::hasNItems(*op.getBodyBlock(), slice.ops.size() + /*yield*/ 1);
  // A constant, or what is made of scalars, would have no shape.
  bool readsTensor = llvm::any_of(slice.scalars, [&](Value scalar) {
    auto argument = dyn_cast<BlockArgument>(scalar);
    return !argument || isa<RankedTensorType>(
                            op.getInputs()[argument.getArgNumber()].getType());
  });
  return readsTensor && (readsResults || isShorter) ? std::optional(slice)
                                                    : std::nullopt;
}

/// Computes `result` by `slice`. `values` are the other results, or what stands
/// for them.
static Value compute(RewriterBase &rewriter, const YieldedResults &results,
                     unsigned result, const Slice &slice,
                     ArrayRef<Value> values) {
  ElementwiseOp op = results.op;
  auto body = std::make_unique<Block>();
  IRMapping mapping;
  SmallVector<Value> inputs;
  for (Value scalar : slice.scalars) {
    auto argument = dyn_cast<BlockArgument>(scalar);
    inputs.push_back(argument ? op.getInputs()[argument.getArgNumber()]
                              : values[results.numberOf.lookup(scalar)]);
    mapping.map(scalar, body->addArgument(scalar.getType(), scalar.getLoc()));
  }
  OpBuilder inside = appendTo(*body, op.getContext());
  for (Operation *inner : slice.ops)
    inside.clone(*inner, mapping);
  ElementwiseOp computed = buildElementwise(
      rewriter, op.getLoc(), op.getResult(result).getType(), std::move(body),
      inputs, mapping.lookup(results.yielded[result]));
  return computed.getResult(0);
}

/// The results of `op` that are computed in its body, each after those that it
/// is computed from.
static SmallVector<OpResult> sortResults(ElementwiseOp op) {
  ValueRange yielded = op.getYield().getValues();
  auto getDef = [&](OpResult result) {
    return yielded[result.getResultNumber()].getDefiningOp();
  };
  SmallVector<OpResult> results = llvm::filter_to_vector(
      op->getResults(), [&](OpResult result) { return getDef(result); });
  llvm::stable_sort(results, [&](OpResult first, OpResult second) {
    return getDef(first) != getDef(second) &&
           getDef(first)->isBeforeInBlock(getDef(second));
  });
  return results;
}

/// Adds alternatives to the results of `op`.
static void addAlternatives(RewriterBase &rewriter, ElementwiseOp op) {
  YieldedResults results(op);
  SmallVector<Value> values(op->getResults());
  rewriter.setInsertionPointAfter(op);
  for (OpResult result : sortResults(op)) {
    std::optional<Slice> slice = findSlice(results, result.getResultNumber());
    if (!slice)
      continue;
    Value other =
        compute(rewriter, results, result.getResultNumber(), *slice, values);
    auto both = AlternativesOp::create(rewriter, op.getLoc(), result.getType(),
                                       ValueRange{result, other});
    values[result.getResultNumber()] = both;
    rewriter.replaceUsesWithIf(result, both, [&](OpOperand &use) {
      return use.getOwner() != both && !isa<func::ReturnOp>(use.getOwner());
    });
  }
}

//===----------------------------------------------------------------------===//
// Intermediate values
//===----------------------------------------------------------------------===//

/// Whether it may take less to keep what `inner`, in the body of `op`, computes
/// than what that is computed from: it is narrower, such as a condition, or
/// takes longer to compute than to read.
static bool isWorthKeeping(ElementwiseOp op, Operation &inner) {
  if (!inner.hasAttr(FadDialect::kTapeAttr) || inner.getNumResults() != 1)
    return false;
  Value value = inner.getResult(0);
  if (!value.getType().isIntOrFloat() ||
      llvm::is_contained(op.getYield().getValues(), value))
    return false;
  // Times and widths are those of CostModel: an eighth of a byte's.
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (value.getType().isFloat() &&
      getArithmeticTime(&inner, kCPUTimes) >= width)
    return true;
  return llvm::any_of(op.getInputs(), [&](Value input) {
    Type type = getElementTypeOrSelf(input);
    return type.isIntOrFloat() && width < type.getIntOrFloatBitWidth();
  });
}

/// `op` with `values`, of its body, as further results.
static void addResults(RewriterBase &rewriter, ElementwiseOp op,
                       ArrayRef<Value> values) {
  SmallVector<Value> yielded(op.getYield().getValues());
  llvm::append_range(yielded, values);
  rewriter.setInsertionPoint(op);
  ElementwiseOp extended = cloneYielding(rewriter, op, yielded);
  extended->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, extended.getResults().take_front(op.getNumResults()));
}

/// Reads each value in one of the results that have it.
static void mergeEqualResults(RewriterBase &rewriter, ElementwiseOp op) {
  llvm::SmallDenseMap<Value, Value> first;
  for (auto [value, result] :
       llvm::zip_equal(op.getYield().getValues(), op->getResults()))
    if (auto [it, isNew] = first.try_emplace(value, result); !isNew)
      rewriter.replaceAllUsesWith(result, it->second);
}

/// Fills tensors with the constants that `op` yields: these need not be kept.
static void splitConstants(RewriterBase &rewriter, ElementwiseOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  for (auto [value, result] :
       llvm::zip_equal(op.getYield().getValues(), op->getResults())) {
    TypedAttr constant;
    if (result.use_empty() || !matchPattern(value, m_Constant(&constant)))
      continue;
    Value scalar = arith::ConstantOp::create(rewriter, loc, constant);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, op.getShapeOperand());
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, sizes, constant.getType());
    rewriter.replaceAllUsesWith(
        result,
        linalg::FillOp::create(rewriter, loc, scalar, empty).getResult(0));
  }
}

void fad::exposeIntermediates(RewriterBase &rewriter, Block &block) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (auto op : llvm::make_early_inc_range(block.getOps<ElementwiseOp>())) {
    mergeEqualResults(rewriter, op);
    if (op->hasAttr(FadDialect::kKernelAttr))
      continue;
    splitConstants(rewriter, op);
    SmallVector<Value> values;
    for (Operation &inner : op.getBodyBlock()->without_terminator())
      if (isWorthKeeping(op, inner))
        values.push_back(inner.getResult(0));
    if (!values.empty())
      addResults(rewriter, op, values);
  }
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

void fad::addResultAlternatives(RewriterBase &rewriter, Block &block) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (auto op : llvm::make_early_inc_range(block.getOps<ElementwiseOp>()))
    if (op->getNumResults() > 1 && !op->hasAttr(FadDialect::kAdjointOfAttr))
      addAlternatives(rewriter, op);
}
