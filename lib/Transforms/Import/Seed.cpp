//===- Seed.cpp - Cotangents folded into constants ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seed.h"
#include "fad/Analysis/Entry.h"
#include "fad/Interfaces/Expr.h"
#include "fad/Transforms/Utils/Linearity.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

/// The most constants to try: backward begins with its seed.
static constexpr size_t kMaxSeeds = 8;

/// The number that all elements of `tensor` equal, by a constant or a fill;
/// none if it is zero.
static std::optional<double> getSeedNumber(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !isDifferentiable(type))
    return std::nullopt;
  Value value = tensor;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    value = fill.value();
  else if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  FloatAttr number;
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat())
    number = dense.getSplatValue<FloatAttr>();
  else if (!matchPattern(value, m_Constant(&number)))
    return std::nullopt;
  if (number.getValue().isZero())
    return std::nullopt;
  return number.getValueAsDouble();
}

namespace {
/// Looks for the constant that backward starts from.
class SeedFinder {
public:
  SeedFinder(func::FuncOp function, ArrayRef<int64_t> gradients, Value loss)
      : function(function), gradients(gradients), loss(loss) {
    findPrimal();
  }

  FailureOr<unsigned> run();

private:
  /// Finds the operations that results which are no gradients depend on.
  void findPrimal();
  /// Finds the uses of constants in the backward part, by constant, in program
  /// order.
  void findCandidates();
  /// Puts `seed` times the cotangent in the place of `seed` in backward.
  void replace(Value seed, Value cotangent);
  /// Whether all gradients are linear in `cotangent`, and depend on it.
  bool isCotangent(Value cotangent);

  func::FuncOp function;
  ArrayRef<int64_t> gradients;
  Value loss;
  DenseSet<Operation *> primal;
  llvm::MapVector<Value, SmallVector<OpOperand *>> candidates;
};
} // namespace

void SeedFinder::findPrimal() {
  Operation *terminator = function.front().getTerminator();
  DenseSet<Value> needed;
  for (OpOperand &operand : terminator->getOpOperands())
    if (!llvm::is_contained(gradients, operand.getOperandNumber()))
      needed.insert(operand.get());
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (isMemoryEffectFree(&op) && llvm::none_of(op.getResults(), [&](Value v) {
          return needed.contains(v);
        }))
      continue;
    primal.insert(&op);
    forEachOutsideOperand(
        &op, [&](OpOperand &operand) { needed.insert(operand.get()); });
  }
}

void SeedFinder::findCandidates() {
  for (Operation &op : function.front().without_terminator()) {
    if (primal.contains(&op) || isa<linalg::FillOp>(op))
      continue;
    for (OpOperand &operand : op.getOpOperands())
      if (getSeedNumber(operand.get()))
        candidates[operand.get()].push_back(&operand);
  }
}

void SeedFinder::replace(Value seed, Value cotangent) {
  Operation *def = seed.getDefiningOp();
  OpBuilder builder(def->getContext());
  builder.setInsertionPointAfter(def);
  Location loc = seed.getLoc();
  auto type = cast<RankedTensorType>(seed.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(builder, loc, seed, dim));
  Value empty = tensor::EmptyOp::create(builder, loc, type, sizes);
  unsigned rank = type.getRank();
  // A tensor of one element, of any rank, or a scalar.
  auto from = dyn_cast<RankedTensorType>(cotangent.getType());
  SmallVector<AffineExpr> zeros(from ? from.getRank() : 0,
                                builder.getAffineConstantExpr(0));
  AffineMap maps[] = {AffineMap::get(rank, 0, zeros, builder.getContext()),
                      builder.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  double number = *getSeedNumber(seed);
  auto scaled = linalg::GenericOp::create(
      builder, loc, type, cotangent, empty, maps, iterators,
      [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ExprBuilder eb(inside, loc, type.getElementType());
        Expr product = convert(Expr(eb, arguments[0]), type.getElementType());
        linalg::YieldOp::create(inside, loc, (product * number).getValue());
      });
  for (OpOperand *use : candidates.lookup(seed))
    use->set(scaled.getResult(0));
}

bool SeedFinder::isCotangent(Value cotangent) {
  Linearity linearity(function, cotangent);
  return linearity.isValid() && llvm::all_of(gradients, [&](int64_t number) {
           return linearity.isLinear(
               function.front().getTerminator()->getOperand(number));
         });
}

FailureOr<unsigned> SeedFinder::run() {
  findCandidates();
  unsigned number = function.getNumArguments();
  Builder builder(function.getContext());
  if (failed(function.insertArgument(number, loss.getType(),
                                     builder.getDictionaryAttr({}),
                                     loss.getLoc())))
    return failure();
  Value cotangent = function.getArgument(number);
  size_t tried = 0;
  for (auto &[seed, uses] : candidates) {
    if (tried++ == kMaxSeeds)
      break;
    replace(seed, cotangent);
    if (isCotangent(cotangent))
      return number;
    Operation *scaled = uses.front()->get().getDefiningOp();
    for (OpOperand *use : uses)
      use->set(seed);
    scaled->erase();
  }
  return function.emitError("@")
         << function.getSymName()
         << " starts its backward part from no constant tensor that all "
            "gradients are linear in; give it an argument for each cotangent, "
            "and list these in 'cotangents'";
}

FailureOr<unsigned> fad::addCotangent(func::FuncOp function,
                                      ArrayRef<int64_t> gradients) {
  Value loss;
  unsigned count = 0;
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    if (llvm::is_contained(gradients, operand.getOperandNumber()) ||
        !isDifferentiable(operand.get().getType()))
      continue;
    ++count;
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || (type.hasStaticShape() && type.getNumElements() == 1))
      loss = operand.get();
  }
  if (count != 1 || !loss)
    return function.emitError("@")
           << function.getSymName()
           << " has no argument listed in 'cotangents' and not one loss, a "
              "result of one number, besides its gradients; list the "
              "cotangents of its results";
  return SeedFinder(function, gradients, loss).run();
}
