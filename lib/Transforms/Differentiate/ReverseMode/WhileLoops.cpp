//===- WhileLoops.cpp - Loops of known length in place of scf.while -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReverseMode.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fad;

static SmallVector<Value> lookUp(const IRMapping &mapping, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// Counting iterations
//===----------------------------------------------------------------------===//

namespace {
/// Builds a loop that counts the iterations of another one, and computes only
/// the values on which the condition depends.
class IterationCounter {
public:
  IterationCounter(OpBuilder &builder, scf::WhileOp op)
      : builder(builder), op(op) {}

  Value run();

private:
  /// Finds the values on which the condition and operations without results
  /// depend.
  void findNeeded();
  /// Those of `values` whose argument in `arguments` is needed.
  SmallVector<Value> pick(ValueRange values, ValueRange arguments);
  /// Clones the needed operations of `from`; `arguments` are the needed ones,
  /// and the number of iterations so far.
  void clone(OpBuilder &b, Block &from, ValueRange arguments,
             IRMapping &mapping);

  OpBuilder &builder;
  scf::WhileOp op;
  DenseSet<Value> neededValues;
  DenseSet<Operation *> neededOps;
};
} // namespace

void IterationCounter::findNeeded() {
  RegionBranchInverseSuccessorMapping sources;
  cast<RegionBranchOpInterface>(*op).getSuccessorInputOperandMapping(sources);
  SmallVector<Value> worklist = {op.getConditionOp().getCondition()};
  auto addOperation = [&](Operation *inner) {
    if (neededOps.insert(inner).second)
      inner->walk([&](Operation *nested) {
        llvm::append_range(worklist, nested->getOperands());
      });
  };
  for (Region *region : op.getRegions())
    for (Operation &inner : region->front().without_terminator())
      if (!isMemoryEffectFree(&inner))
        addOperation(&inner);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!neededValues.insert(value).second)
      continue;
    for (OpOperand *source : sources.lookup(value))
      worklist.push_back(source->get());
    for (Region *region : op.getRegions())
      if (Operation *def = value.getDefiningOp())
        if (Operation *inner = region->findAncestorOpInRegion(*def))
          addOperation(inner);
  }
}

SmallVector<Value> IterationCounter::pick(ValueRange values,
                                          ValueRange arguments) {
  SmallVector<Value> picked;
  for (auto [value, argument] : llvm::zip_equal(values, arguments))
    if (neededValues.contains(argument))
      picked.push_back(value);
  return picked;
}

void IterationCounter::clone(OpBuilder &b, Block &from, ValueRange arguments,
                             IRMapping &mapping) {
  ValueRange own = from.getArguments();
  mapping.map(ValueRange(pick(own, own)), arguments.drop_back());
  for (Operation &inner : from.without_terminator())
    if (neededOps.contains(&inner))
      b.clone(inner, mapping);
}

Value IterationCounter::run() {
  findNeeded();
  auto before = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    IRMapping mapping;
    clone(b, *op.getBeforeBody(), arguments, mapping);
    scf::ConditionOp condition = op.getConditionOp();
    SmallVector<Value> handed =
        lookUp(mapping, pick(condition.getArgs(), op.getAfterArguments()));
    handed.push_back(arguments.back());
    scf::ConditionOp::create(
        b, loc, mapping.lookupOrDefault(condition.getCondition()), handed);
  };
  auto after = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    IRMapping mapping;
    clone(b, *op.getAfterBody(), arguments, mapping);
    SmallVector<Value> next =
        lookUp(mapping, pick(op.getYieldedValues(), op.getBeforeArguments()));
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    next.push_back(arith::AddIOp::create(b, loc, arguments.back(), one));
    scf::YieldOp::create(b, loc, next);
  };
  Location loc = op.getLoc();
  SmallVector<Value> inits = pick(op.getInits(), op.getBeforeArguments());
  inits.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  ValueRange handed = op.getAfterArguments();
  SmallVector<Type> types(TypeRange(ValueRange(pick(handed, handed))));
  types.push_back(builder.getIndexType());
  return scf::WhileOp::create(builder, loc, types, inits, before, after)
      .getResults()
      .back();
}

//===----------------------------------------------------------------------===//
// Loops of known length
//===----------------------------------------------------------------------===//

/// Fails if `op` has side effects that must not be repeated.
static LogicalResult checkCountable(scf::WhileOp op) {
  bool valid = true;
  op->walk([&](Operation *nested) {
    if (nested->getNumResults() == 0 || isMemoryEffectFree(nested) ||
        nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    valid = false;
    nested->emitOpError(
        "has side effects, but the iterations of 'scf.while' are counted "
        "before they are run, for backward to know how many there are; move it "
        "out of 'scf.while', or write the loop as scf.for");
  });
  return success(valid);
}

FailureOr<Operation *> ReverseMode::boundLoop(scf::WhileOp op) {
  rewriter.setInsertionPoint(op);
  // Behind the loop, the counter has the value of the last iteration, not the
  // first one for which the condition fails.
  bool readsCounter = llvm::any_of(op.getResults(), [](Value result) {
    return result.getType().isIntOrIndex() && !result.use_empty();
  });
  if (!readsCounter) {
    FailureOr<scf::ForOp> counted = scf::upliftWhileToForLoop(rewriter, op);
    if (succeeded(counted)) {
      findVaried(counted->getOperation());
      std::optional<APInt> trips = counted->getStaticTripCount();
      if (!trips || !trips->isZero())
        return counted->getOperation();
      // Residuals are selected from a program in which the results are the
      // initial values.
      Operation *next = (*counted)->getNextNode();
      rewriter.replaceOp(*counted, counted->getInitArgs());
      return next;
    }
  }
  if (failed(checkCountable(op)))
    return failure();
  Location loc = op.getLoc();
  Value count = IterationCounter(rewriter, op).run();
  auto loop = scf::ForOp::create(
      rewriter, loc, arith::ConstantIndexOp::create(rewriter, loc, 0), count,
      arith::ConstantIndexOp::create(rewriter, loc, 1), op.getInits(),
      [](OpBuilder &, Location, Value, ValueRange) {});
  // The operations of an iteration before its condition.
  auto runBefore = [&](ValueRange carried, IRMapping &mapping) {
    mapping.map(op.getBeforeArguments(), carried);
    clonePrimal(*op.getBeforeBody(), mapping);
    return lookUp(mapping, op.getConditionOp().getArgs());
  };
  IRMapping inside, behind;
  rewriter.setInsertionPointToEnd(loop.getBody());
  inside.map(op.getAfterArguments(),
             runBefore(loop.getRegionIterArgs(), inside));
  clonePrimal(*op.getAfterBody(), inside);
  scf::YieldOp::create(rewriter, loc, lookUp(inside, op.getYieldedValues()));
  findVaried(loop.getOperation());
  rewriter.setInsertionPointAfter(loop);
  rewriter.replaceAllUsesWith(op.getResults(),
                              runBefore(loop.getResults(), behind));
  rewriter.eraseOp(op);
  return loop.getOperation();
}

LogicalResult ReverseMode::boundLoops(Block &block) {
  OpBuilder::InsertionGuard guard(rewriter);
  bool valid = true;
  for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
    auto loop = dyn_cast<scf::WhileOp>(op);
    if (loop && llvm::any_of(loop.getResults(), [&](Value value) {
          return isVaried(value) && !value.use_empty();
        })) {
      FailureOr<Operation *> bounded = boundLoop(loop);
      if (succeeded(bounded)) {
        // The new loop may contain another one.
        op = *bounded;
        continue;
      }
      valid = false;
    } else if (!loop && isControlFlow(op)) {
      for (Region &region : op->getRegions())
        for (Block &nested : region)
          valid &= succeeded(boundLoops(nested));
    }
    op = op->getNextNode();
  }
  return success(valid);
}
