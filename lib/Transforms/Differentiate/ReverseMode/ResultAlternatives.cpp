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

/// The most operations of a recipe: many results may share one long chain.
static constexpr unsigned kMaxRecipe = 64;

namespace {
/// The recipe of a result: the scalar operations that compute it in the body of
/// an `fad.elementwise`, from operands and other results.
struct Recipe {
  /// The inputs of the recipe: other yielded scalars, and arguments of the
  /// body.
  llvm::SmallSetVector<Value, 2> scalars;
  /// In the order of the body, after the search.
  llvm::SmallSetVector<Operation *, 8> ops;
};

/// The results of an `fad.elementwise`, by their yielded scalars.
struct YieldedResults {
  explicit YieldedResults(ElementwiseOp op)
      : op(op), yielded(op.getYield().getValues()),
        hasLongBody(llvm::hasNItemsOrMore(*op.getBodyBlock(), kMaxRecipe + 2)) {
    for (auto [number, scalar] : llvm::enumerate(yielded))
      numberOf.try_emplace(scalar, number);
  }

  ElementwiseOp op;
  ValueRange yielded;
  llvm::DenseMap<Value, unsigned> numberOf;
  /// Whether the body is longer than each recipe.
  bool hasLongBody;
};
} // namespace

/// The recipe of `result` from other results and, if these do not suffice,
/// operands; `nullopt` if it is the whole body and reads no result, or if it is
/// long.
static std::optional<Recipe> findRecipe(const YieldedResults &results,
                                        unsigned result) {
  ElementwiseOp op = results.op;
  Value wanted = results.yielded[result];
  Recipe recipe;
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
      recipe.scalars.insert(scalar);
    else if (recipe.ops.insert(def))
      llvm::append_range(worklist, def->getOperands());
    if (recipe.ops.size() > kMaxRecipe)
      return std::nullopt;
  }
  SmallVector<Operation *> ops = recipe.ops.takeVector();
  llvm::sort(ops, [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  });
  recipe.ops.insert_range(ops);
  bool isShorter =
      results.hasLongBody ||
      !llvm::hasNItems(*op.getBodyBlock(), recipe.ops.size() + /*yield*/ 1);
  // A result of constants and scalars alone would have no shape.
  bool readsTensor = llvm::any_of(recipe.scalars, [&](Value scalar) {
    auto argument = dyn_cast<BlockArgument>(scalar);
    return !argument || isa<RankedTensorType>(
                            op.getInputs()[argument.getArgNumber()].getType());
  });
  return readsTensor && (readsResults || isShorter) ? std::optional(recipe)
                                                    : std::nullopt;
}

/// Computes `result` by `recipe`. `values` are the other results, or their
/// alternatives.
static Value compute(RewriterBase &rewriter, const YieldedResults &results,
                     unsigned result, const Recipe &recipe,
                     ArrayRef<Value> values) {
  ElementwiseOp op = results.op;
  auto body = std::make_unique<Block>();
  IRMapping mapping;
  SmallVector<Value> inputs;
  for (Value scalar : recipe.scalars) {
    auto argument = dyn_cast<BlockArgument>(scalar);
    inputs.push_back(argument ? op.getInputs()[argument.getArgNumber()]
                              : values[results.numberOf.lookup(scalar)]);
    mapping.map(scalar, body->addArgument(scalar.getType(), scalar.getLoc()));
  }
  OpBuilder inside = appendTo(*body, op.getContext());
  for (Operation *inner : recipe.ops)
    inside.clone(*inner, mapping);
  ElementwiseOp computed = buildElementwise(
      rewriter, op.getLoc(), op.getResult(result).getType(), std::move(body),
      inputs, mapping.lookup(results.yielded[result]));
  return computed.getResult(0);
}

/// The results of `op` that its body computes, in the order of the body.
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

static void addAlternatives(RewriterBase &rewriter, ElementwiseOp op) {
  YieldedResults results(op);
  SmallVector<Value> values(op->getResults());
  rewriter.setInsertionPointAfter(op);
  for (OpResult result : sortResults(op)) {
    std::optional<Recipe> recipe =
        findRecipe(results, result.getResultNumber());
    if (!recipe)
      continue;
    Value other =
        compute(rewriter, results, result.getResultNumber(), *recipe, values);
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

/// Whether keeping `inner`, in the body of `op`, may take fewer bytes than
/// keeping its operands, because it is narrower, such as a condition, or
/// whether computing it takes longer than reading it.
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

/// Adds `values`, of the body of `op`, to its results.
static void addResults(RewriterBase &rewriter, ElementwiseOp op,
                       ArrayRef<Value> values) {
  SmallVector<Value> yielded(op.getYield().getValues());
  llvm::append_range(yielded, values);
  rewriter.setInsertionPoint(op);
  ElementwiseOp extended = cloneYielding(rewriter, op, yielded);
  extended->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, extended.getResults().take_front(op.getNumResults()));
}

/// Replaces equal results by the first of them.
static void mergeEqualResults(RewriterBase &rewriter, ElementwiseOp op) {
  llvm::SmallDenseMap<Value, Value> first;
  for (auto [value, result] :
       llvm::zip_equal(op.getYield().getValues(), op->getResults()))
    if (auto [it, isNew] = first.try_emplace(value, result); !isNew)
      rewriter.replaceAllUsesWith(result, it->second);
}

/// Replaces constant results of `op` by fills, which need not be kept.
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
