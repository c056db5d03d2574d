//===- LoopRule.cpp - Adjoint of scf.for ----------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/Analysis/Entry.h"
#include "fad/Analysis/SizeOrigins.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/Slices.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Builds the adjoint of one loop: a loop that runs backwards, computes each
/// iteration again from the values that the iterations begin with, which the
/// primal loop stacks, and then the cotangents.
class LoopAdjoint {
public:
  LoopAdjoint(AdjointBuilder &adjoint, scf::ForOp op, ValueRange cotangents)
      : adjoint(adjoint), rewriter(adjoint.rewriter), op(op), loc(op.getLoc()),
        cotangents(cotangents),
        captured(adjoint.findCaptured(op->getRegions())) {}

  LogicalResult run();

private:
  /// Finds the loop-carried values whose cotangents matter.
  void findActive();
  /// Whether loop-carried value `index` has the sizes of its init throughout.
  bool keepsSizes(unsigned index);
  void computeTripCount();
  Value createIndex(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// `value`, of the type of the loop's bounds, as an index.
  Value toIndex(OpBuilder &b, Value value);
  Value fromIndex(OpBuilder &b, Value value);
  /// The loop that runs backwards, and carries the cotangents of the active
  /// loop-carried values; its body still reads the others from placeholders.
  LogicalResult buildBackward();
  LogicalResult buildBody();
  /// Ends its body with the cotangents of the loop-carried values.
  void yieldCotangents();
  /// Adds the cotangents of captured values to the loop-carried values.
  void addCapturedCotangents();
  /// The primal iteration of an iteration of `backward`, computed at the start
  /// of its body.
  Value createPosition();
  /// Makes the primal loop stack the values of the placeholders.
  LogicalResult addStacks();
  /// Fails if loop-carried value `index` cannot be stacked.
  LogicalResult checkStack(unsigned index);
  Value createStack(unsigned index);
  /// The offsets in the stack of `value`, an initial value of iteration
  /// `position`.
  SmallVector<OpFoldResult> getOffsets(Value position, Value value);
  SmallVector<OpFoldResult> getSizes(OpBuilder &b, Value value);
  Value push(OpBuilder &b, Value stack, Value value, Value position);
  Value pop(Value stack, Value position, Type type);

  AdjointBuilder &adjoint;
  RewriterBase &rewriter;
  scf::ForOp op;
  Location loc;
  ValueRange cotangents;
  llvm::SetVector<Value> captured;

  SmallVector<unsigned> active;
  Value tripCount;
  scf::ForOp backward;
  /// Placeholders, before that loop, for the initial values of a primal
  /// iteration.
  SmallVector<Operation *> placeholders;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loop-carried values
//===----------------------------------------------------------------------===//

void LoopAdjoint::findActive() {
  llvm::SmallBitVector reached(op.getNumResults());
  for (auto [index, cotangent] : llvm::enumerate(cotangents))
    if (cotangent)
      reached.set(index);
  // A dependence may go through the same iteration or a later one.
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> worklist;
  auto push = [&](unsigned index) {
    worklist.push_back(op.getYieldedValues()[index]);
  };
  for (unsigned index : reached.set_bits())
    push(index);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto it = llvm::find(op.getRegionIterArgs(), value);
    if (it != op.getRegionIterArgs().end()) {
      unsigned index = it - op.getRegionIterArgs().begin();
      if (!reached.test(index))
        push(index);
      reached.set(index);
    }
    Operation *def = value.getDefiningOp();
    def = def ? op.getBody()->findAncestorOpInBlock(*def) : nullptr;
    if (def && seen.insert(def).second)
      def->walk([&](Operation *nested) {
        llvm::append_range(worklist, nested->getOperands());
      });
  }
  for (auto [index, argument] : llvm::enumerate(op.getRegionIterArgs()))
    if (reached.test(index) && adjoint.isVaried(argument) &&
        isDifferentiable(argument.getType()))
      active.push_back(index);
}

bool LoopAdjoint::keepsSizes(unsigned index) {
  Value next = op.getYieldedValues()[index];
  auto type = dyn_cast<RankedTensorType>(next.getType());
  // In an iteration, `value` has the size to which the body casts a tensor of
  // equal size: the cast is undefined for others.
  auto isCastTo = [&](tensor::CastOp cast, Value value, int64_t dim) {
    auto target = dyn_cast<RankedTensorType>(cast.getType());
    return target && dim < target.getRank() && !target.isDynamicDim(dim) &&
           areEqual({next, dim}, {cast, dim}) &&
           areEqual({cast.getSource(), dim}, {value, dim});
  };
  auto hasSize = [&](Value value, int64_t dim) {
    return areEqual({next, dim}, {value, dim}) ||
           llvm::any_of(
               op.getBody()->getOps<tensor::CastOp>(),
               [&](tensor::CastOp cast) { return isCastTo(cast, value, dim); });
  };
  auto hasSizesOf = [&](Value value) {
    return llvm::all_of(llvm::seq(type.getRank()),
                        [&](int64_t dim) { return hasSize(value, dim); });
  };
  return !type || hasSizesOf(op.getRegionIterArgs()[index]) ||
         hasSizesOf(op.getInitArgs()[index]);
}

Value LoopAdjoint::toIndex(OpBuilder &b, Value value) {
  if (value.getType().isIndex())
    return value;
  if (op.getUnsignedCmp())
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

Value LoopAdjoint::fromIndex(OpBuilder &b, Value value) {
  Type type = op.getInductionVar().getType();
  if (type.isIndex())
    return value;
  return arith::IndexCastOp::create(b, loc, type, value);
}

void LoopAdjoint::computeTripCount() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  if (std::optional<APInt> count = op.getStaticTripCount()) {
    tripCount = createIndex(rewriter, count->getZExtValue());
    return;
  }
  Value lower = toIndex(rewriter, op.getLowerBound());
  Value upper = toIndex(rewriter, op.getUpperBound());
  Value step = toIndex(rewriter, op.getStep());
  // A loop whose bounds are the other way round does not run.
  Value last = op.getUnsignedCmp()
                   ? rewriter.createOrFold<arith::MaxUIOp>(loc, lower, upper)
                   : rewriter.createOrFold<arith::MaxSIOp>(loc, lower, upper);
  Value range = rewriter.createOrFold<arith::SubIOp>(loc, last, lower);
  tripCount = rewriter.createOrFold<arith::CeilDivUIOp>(loc, range, step);
}

//===----------------------------------------------------------------------===//
// The loop that runs backwards
//===----------------------------------------------------------------------===//

Value LoopAdjoint::createPosition() {
  rewriter.setInsertionPointToStart(backward.getBody());
  Value one = createIndex(rewriter, 1);
  Value last = arith::SubIOp::create(rewriter, loc, tripCount, one);
  return arith::SubIOp::create(rewriter, loc, last, backward.getInductionVar());
}

LogicalResult LoopAdjoint::buildBody() {
  OpBuilder::InsertionGuard guard(rewriter);
  Value position = createPosition();
  Value distance = arith::MulIOp::create(
      rewriter, loc, fromIndex(rewriter, position), op.getStep());
  IRMapping mapping;
  mapping.map(
      op.getInductionVar(),
      arith::AddIOp::create(rewriter, loc, op.getLowerBound(), distance));
  for (auto [argument, placeholder] :
       llvm::zip_equal(op.getRegionIterArgs(), placeholders))
    mapping.map(argument, placeholder->getResult(0));
  SmallVector<Value> carried(op.getNumResults());
  for (auto [index, cotangent] :
       llvm::zip_equal(active, backward.getRegionIterArgs()))
    carried[index] = cotangent;
  return adjoint.differentiateBlock(*op.getBody(), mapping, carried, [&] {
    yieldCotangents();
    addCapturedCotangents();
  });
}

void LoopAdjoint::yieldCotangents() {
  SmallVector<Value> yielded;
  for (unsigned index : active) {
    Value argument = placeholders[index]->getResult(0);
    Value cotangent = adjoint.takeCotangent(argument);
    if (!cotangent)
      cotangent =
          makeZerosLike(rewriter, loc,
                        keepsSizes(index) ? op.getInitArgs()[index] : argument);
    yielded.push_back(cotangent);
  }
  scf::YieldOp::create(rewriter, loc, yielded);
}

void LoopAdjoint::addCapturedCotangents() {
  captured.remove_if([&](Value value) { return !adjoint.hasCotangent(value); });
  if (captured.empty())
    return;
  rewriter.setInsertionPoint(backward);
  SmallVector<Value> zeros;
  for (Value value : captured)
    zeros.push_back(makeZerosLike(rewriter, loc, value));
  // Cotangents of all iterations are added up.
  auto addUp = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> sums) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.restoreInsertionPoint(b.saveInsertionPoint());
    SmallVector<Value> yielded;
    for (auto [value, sum] : llvm::zip_equal(captured, sums)) {
      adjoint.addCotangent(value, sum);
      yielded.push_back(adjoint.takeCotangent(value));
    }
    return yielded;
  };
  // Never fails for scf.for.
  backward = cast<scf::ForOp>(*backward.replaceWithAdditionalYields(
      rewriter, zeros, /*replaceInitOperandUsesInLoop=*/false, addUp));
}

LogicalResult LoopAdjoint::buildBackward() {
  SmallVector<Value> inits;
  for (unsigned index : active)
    inits.push_back(cotangents[index]
                        ? cotangents[index]
                        : makeZerosLike(rewriter, loc, op.getResult(index)));
  for (Value argument : op.getRegionIterArgs())
    placeholders.push_back(UnrealizedConversionCastOp::create(
        rewriter, loc, argument.getType(), ValueRange()));
  backward =
      scf::ForOp::create(rewriter, loc, createIndex(rewriter, 0), tripCount,
                         createIndex(rewriter, 1), inits,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  return buildBody();
}

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

LogicalResult LoopAdjoint::checkStack(unsigned index) {
  Value argument = op.getRegionIterArgs()[index];
  Type type = argument.getType();
  if (type.isIntOrIndexOrFloat())
    return success();
  if (!isa<RankedTensorType>(type))
    return op.emitOpError("carries ")
           << type
           << " from one iteration to the next, which backward cannot keep; "
              "carry ranked tensors and scalars";
  if (keepsSizes(index))
    return success();
  return op.emitOpError("carries ")
         << type
         << ", whose sizes may change from one iteration to the next, which "
            "backward cannot keep in one tensor; make them static, or write "
            "each iteration's result into a tensor of the sizes it began with";
}

SmallVector<OpFoldResult> LoopAdjoint::getSizes(OpBuilder &b, Value value) {
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1)};
  if (isa<RankedTensorType>(value.getType()))
    llvm::append_range(sizes, tensor::getMixedSizes(b, loc, value));
  return sizes;
}

Value LoopAdjoint::createStack(unsigned index) {
  Value init = op.getInitArgs()[index];
  SmallVector<OpFoldResult> sizes = getSizes(rewriter, init);
  sizes.front() = getAsOpFoldResult(tripCount);
  return tensor::EmptyOp::create(rewriter, loc, sizes,
                                 getElementTypeOrSelf(init));
}

SmallVector<OpFoldResult> LoopAdjoint::getOffsets(Value position, Value stack) {
  auto type = cast<RankedTensorType>(stack.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  offsets.front() = position;
  return offsets;
}

Value LoopAdjoint::push(OpBuilder &b, Value stack, Value value,
                        Value position) {
  if (!isa<RankedTensorType>(value.getType()))
    return tensor::InsertOp::create(b, loc, value, stack, position);
  SmallVector<OpFoldResult> offsets = getOffsets(position, stack);
  SmallVector<OpFoldResult> ones(offsets.size(), b.getIndexAttr(1));
  return insertSlice(b, loc, value, stack, offsets, getSizes(b, value), ones);
}

Value LoopAdjoint::pop(Value stack, Value position, Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return tensor::ExtractOp::create(rewriter, loc, stack, position);
  SmallVector<OpFoldResult> offsets = getOffsets(position, stack);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, stack);
  sizes.front() = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> ones(offsets.size(), rewriter.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (OpFoldResult size : ArrayRef(sizes).drop_front())
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto sliceType = RankedTensorType::get(shape, tensorType.getElementType());
  Value slice =
      extractSlice(rewriter, loc, sliceType, stack, offsets, sizes, ones);
  if (sliceType != type)
    slice = tensor::CastOp::create(rewriter, loc, type, slice);
  return slice;
}

LogicalResult LoopAdjoint::addStacks() {
  SmallVector<unsigned> stacked;
  bool valid = true;
  for (auto [index, placeholder] : llvm::enumerate(placeholders)) {
    if (placeholder->use_empty())
      continue;
    stacked.push_back(index);
    valid &= succeeded(checkStack(index));
  }
  if (!valid)
    return failure();
  unsigned numResults = op.getNumResults();
  if (!stacked.empty()) {
    rewriter.setInsertionPoint(op);
    SmallVector<Value> stacks = llvm::map_to_vector(
        stacked, [&](unsigned index) { return createStack(index); });
    auto pushAll = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> tops) {
      auto loop = cast<scf::ForOp>(tops.front().getOwner()->getParentOp());
      Value distance = arith::SubIOp::create(b, loc, loop.getInductionVar(),
                                             loop.getLowerBound());
      Value number = arith::DivUIOp::create(b, loc, distance, loop.getStep());
      // A count has no sign, whatever the bounds have.
      if (!number.getType().isIndex())
        number = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
      SmallVector<Value> yielded;
      for (auto [index, top] : llvm::zip_equal(stacked, tops))
        yielded.push_back(
            push(b, top, loop.getRegionIterArgs()[index], number));
      return yielded;
    };
    op = cast<scf::ForOp>(*op.replaceWithAdditionalYields(
        rewriter, stacks, /*replaceInitOperandUsesInLoop=*/false, pushAll));
  }
  ValueRange stacks = op.getResults().drop_front(numResults);
  Value position = createPosition();
  for (auto [index, stack] : llvm::zip_equal(stacked, stacks)) {
    Value placeholder = placeholders[index]->getResult(0);
    rewriter.replaceAllUsesWith(placeholder,
                                pop(stack, position, placeholder.getType()));
  }
  for (Operation *placeholder : placeholders)
    rewriter.eraseOp(placeholder);
  return success();
}

//===----------------------------------------------------------------------===//
// The adjoint
//===----------------------------------------------------------------------===//

LogicalResult LoopAdjoint::run() {
  findActive();
  computeTripCount();
  LogicalResult valid = buildBackward();
  for (auto [index, cotangent] : llvm::zip(active, backward.getResults()))
    if (adjoint.isVaried(op.getInitArgs()[index]))
      adjoint.addCotangent(op.getInitArgs()[index], cotangent);
  for (auto [value, cotangent] : llvm::zip_equal(
           captured, backward.getResults().drop_front(active.size())))
    adjoint.addCotangent(value, cotangent);
  if (failed(valid) || failed(adjoint.finishRegions(backward)))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  return addStacks();
}

namespace {
struct Loop : AdjointRule<Loop, scf::ForOp> {
  static LogicalResult buildAdjoint(AdjointBuilder &adjoint, Op op,
                                    ValueRange cotangents) {
    return LoopAdjoint(adjoint, op, cotangents).run();
  }
};
} // namespace

void fad::attachLoopRule(MLIRContext *context) { attachRules<Loop>(context); }
