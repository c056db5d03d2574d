//===- DerivativeParts.cpp - Values that only backward reads --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Separates derivatives from the operands of the primal results.
class Separator {
public:
  Separator(RewriterBase &rewriter, const JointFunction &joint)
      : rewriter(rewriter), joint(joint),
        backward(llvm::from_range, joint.getBackward()) {}

  void run();

private:
  /// Finds the values on which the primal results, and side effects of the
  /// forward part, depend.
  void findNeeded();
  bool isNeeded(Operation *op) const {
    return !isMemoryEffectFree(op) ||
           llvm::any_of(op->getResults(),
                        [&](Value v) { return needed.contains(v); });
  }
  SmallVector<unsigned> getNeeded(Operation *op) const {
    SmallVector<unsigned> numbers;
    for (OpResult result : op->getResults())
      if (needed.contains(result))
        numbers.push_back(result.getResultNumber());
    return numbers;
  }
  /// Rewrites `op`, or the results of it that are not needed, to a derivative,
  /// if it is elementwise.
  void separate(Operation *op);
  /// An `fad.elementwise` of the results `numbers` of `op`, beside it.
  ElementwiseOp extract(Operation *op, ArrayRef<unsigned> numbers);
  /// Fuses derivatives that only `op` reads into it; returns the new operation.
  ElementwiseOp fuseProducers(ElementwiseOp op);

  RewriterBase &rewriter;
  const JointFunction &joint;
  DenseSet<Operation *> backward;
  DenseSet<Value> needed;
  DenseSet<Operation *> derivatives;
};
} // namespace

void Separator::findNeeded() {
  needed.insert(joint.getResults().begin(), joint.getResults().end());
  func::FuncOp function = joint.getFunction();
  for (Operation &op : llvm::reverse(function.front().without_terminator()))
    if (!backward.contains(&op) && isNeeded(&op))
      forEachOutsideOperand(
          &op, [&](OpOperand &operand) { needed.insert(operand.get()); });
}

/// The scalars of `body` on which `yielded` depend.
static DenseSet<Operation *> findComputed(Block &body, ValueRange yielded) {
  DenseSet<Operation *> computed;
  SmallVector<Value> worklist(yielded);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (def && def->getBlock() == &body && computed.insert(def).second)
      llvm::append_range(worklist, def->getOperands());
  }
  return computed;
}

ElementwiseOp Separator::extract(Operation *op, ArrayRef<unsigned> numbers) {
  Block &from = getScalarBody(op);
  ValueRange values = from.getTerminator()->getOperands();
  SmallVector<Value> primal, yielded, operands;
  SmallVector<Type> types;
  for (auto [value, result] : llvm::zip(values, op->getResults()))
    if (needed.contains(result))
      primal.push_back(value);
  DenseSet<Operation *> onTape = findComputed(from, primal);

  auto body = std::make_unique<Block>();
  IRMapping mapping;
  for (auto [operand, argument] :
       llvm::zip(op->getOperands(), from.getArguments())) {
    // A linalg.generic does not read its destinations.
    if (isa<linalg::LinalgOp>(op) && argument.use_empty())
      continue;
    operands.push_back(operand);
    mapping.map(argument,
                body->addArgument(argument.getType(), argument.getLoc()));
  }
  OpBuilder inside = appendTo(*body, op->getContext());
  for (Operation &inner : from.without_terminator()) {
    Operation *clone = inside.clone(inner, mapping);
    // A tape holds values of the forward part.
    if (!onTape.contains(&inner))
      clone->removeAttr(FadDialect::kTapeAttr);
  }
  for (unsigned number : numbers) {
    yielded.push_back(mapping.lookupOrDefault(values[number]));
    types.push_back(op->getResult(number).getType());
  }
  rewriter.setInsertionPointAfter(op);
  ElementwiseOp built = buildElementwise(rewriter, op->getLoc(), types,
                                         std::move(body), operands, yielded);
  simplifyBody(rewriter, built);
  for (auto [number, result] : llvm::zip(numbers, built.getResults()))
    rewriter.replaceAllUsesWith(op->getResult(number), result);
  return built;
}

/// Whether `op`, of elementwise form, can be an `fad.elementwise` of
/// floating-point tensors, and is no copy.
static bool canBeDerivative(Operation *op) {
  bool readsFloats = false;
  for (OpOperand &operand : op->getOpOperands()) {
    Value argument = getScalarBody(op).getArgument(operand.getOperandNumber());
    if (argument.use_empty() || !isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (!getReadMap(operand).isIdentity())
      return false;
    readsFloats |= isa<FloatType>(argument.getType());
  }
  return readsFloats && !getScalarBody(op).without_terminator().empty();
}

void Separator::separate(Operation *op) {
  SmallVector<unsigned> numbers;
  for (OpResult result : op->getResults())
    if (!needed.contains(result) && !result.use_empty())
      numbers.push_back(result.getResultNumber());
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (numbers.empty() || (structured && isNeeded(op)))
    return;
  auto region = dyn_cast<ElementwiseOp>(op);
  if (op->hasAttr(FadDialect::kAdjointOfAttr)) {
    if (region)
      derivatives.insert(region);
    return;
  }
  if (!isElementwiseForm(op) || !canBeDerivative(op)) {
    // Broadcasts, and masks computed from integers.
    if (structured && structured.getNumReductionLoops() == 0)
      op->setAttr(FadDialect::kAdjointOfAttr,
                  rewriter.getStringAttr(op->getName().getStringRef()));
    return;
  }
  if (!region || numbers.size() != op->getNumResults()) {
    region = extract(op, numbers);
    // Dead operations are erased.
    if (isNeeded(op))
      extract(op, getNeeded(op));
  }
  region->setAttr(FadDialect::kAdjointOfAttr,
                  rewriter.getStringAttr(describe(region)));
  derivatives.insert(region);
}

/// Whether fusing `producer` into `consumer` removes a choice: a narrow tensor,
/// such as a mask, may be a better residual than its users and its operands.
static bool losesChoice(ElementwiseOp producer, ElementwiseOp consumer) {
  auto getWidth = [](Value value) {
    Type type = getElementTypeOrSelf(value);
    return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  };
  unsigned width = std::numeric_limits<unsigned>::max();
  for (Value result : consumer.getResults())
    width = std::min(width, getWidth(result));
  return llvm::any_of(producer.getResults(),
                      [&](Value v) { return getWidth(v) < width; }) &&
         !llvm::all_of(producer.getInputs(), [&](Value input) {
           return llvm::is_contained(consumer.getInputs(), input);
         });
}

ElementwiseOp Separator::fuseProducers(ElementwiseOp op) {
  bool changed = true, fusedAny = false;
  while (changed) {
    changed = false;
    for (Value input : op.getInputs()) {
      auto producer = input.getDefiningOp<ElementwiseOp>();
      if (!producer || !derivatives.contains(producer) ||
          producer->getBlock() != op->getBlock() || losesChoice(producer, op))
        continue;
      FailureOr<ElementwiseOp> fused = fuseProducer(rewriter, producer, op);
      if (failed(fused))
        continue;
      derivatives.erase(producer);
      derivatives.erase(op);
      op = *fused;
      derivatives.insert(op);
      changed = fusedAny = true;
      break;
    }
  }
  if (fusedAny)
    simplifyFused(rewriter, op);
  return op;
}

void Separator::run() {
  findNeeded();
  Block &block = joint.getFunction()->getRegion(0).front();
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    if (!backward.contains(&op))
      forward.push_back(&op);
  for (Operation *op : forward)
    separate(op);
  // Reverse order fuses chains into their last operation.
  for (Operation *op = block.getTerminator(); op; op = op->getPrevNode())
    if (derivatives.contains(op))
      op = fuseProducers(cast<ElementwiseOp>(op));
  eraseDeadOps(block);
}

void fad::separateDerivatives(RewriterBase &rewriter,
                              const JointFunction &joint) {
  Separator(rewriter, joint).run();
}
