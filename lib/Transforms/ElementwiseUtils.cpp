//===- ElementwiseUtils.cpp - Building and fusing fad.elementwise ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

OpBuilder fad::appendTo(Block &block, MLIRContext *context) {
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  return builder;
}

SmallVector<Block *> fad::findTensorBlocks(func::FuncOp function) {
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) {
    Operation *parent = block->getParentOp();
    if (parent == function || isa<scf::SCFDialect>(parent->getDialect()))
      blocks.push_back(block);
  });
  return blocks;
}

void fad::eraseDeadOps(Block &block, ValueRange kept) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) &&
        llvm::none_of(op.getResults(), [&](Value result) {
          return llvm::is_contained(kept, result);
        }))
      op.erase();
}

void fad::simplifyBody(RewriterBase &rewriter, ElementwiseOp op) {
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, op);
  eraseDeadOps(*op.getBodyBlock());
}

/// Whether `value` is defined outside `block`, a block without nested regions.
static bool isCaptured(Value value, Block &block) {
  return value.getParentBlock() != &block;
}

/// Clones captured constants into `body`; returns the other captured values.
static SmallVector<Value> internalizeCaptures(OpBuilder &builder, Block &body,
                                              MutableArrayRef<Value> yielded) {
  llvm::SetVector<Value> captured;
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (isCaptured(operand, body))
        captured.insert(operand);
  for (Value value : yielded)
    if (isCaptured(value, body))
      captured.insert(value);

  SmallVector<Value> scalars;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  for (Value value : captured) {
    Value inside;
    if (matchPattern(value, m_Constant())) {
      inside = builder.clone(*value.getDefiningOp())->getResult(0);
    } else {
      scalars.push_back(value);
      inside = body.addArgument(value.getType(), value.getLoc());
    }
    for (Operation &op : body)
      op.replaceUsesOfWith(value, inside);
    llvm::replace(yielded, value, inside);
  }
  return scalars;
}

ElementwiseOp fad::buildElementwise(OpBuilder &builder, Location loc,
                                    TypeRange resultTypes,
                                    std::unique_ptr<Block> body,
                                    ValueRange inputs, ValueRange yielded) {
  SmallVector<Value> operands(inputs);
  SmallVector<Value> values(yielded);
  llvm::append_range(operands, internalizeCaptures(builder, *body, values));

  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body.get());
    YieldOp::create(builder, loc, values);
    eraseDeadOps(*body);
  }

  // Keep one tensor whatever the body reads: it gives the shape.
  auto isTensor = [&](unsigned index) {
    return isa<RankedTensorType>(operands[index].getType());
  };
  auto isUsed = [&](unsigned index) {
    return !body->getArgument(index).use_empty();
  };
  auto indices = llvm::seq<unsigned>(0, operands.size());
  bool keepsTensor = llvm::any_of(
      indices, [&](unsigned i) { return isTensor(i) && isUsed(i); });
  SmallVector<Value> kept;
  llvm::BitVector dropped(operands.size());
  for (unsigned index : indices) {
    bool keep = isUsed(index) || (!keepsTensor && isTensor(index));
    keepsTensor |= keep && isTensor(index);
    if (keep)
      kept.push_back(operands[index]);
    else
      dropped.set(index);
  }
  body->eraseArguments(dropped);

  auto op = ElementwiseOp::create(builder, loc, resultTypes, kept);
  op.getBody().getBlocks().clear();
  op.getBody().push_back(body.release());
  return op;
}

/// Moves the operations of `from` to the end of `to`, reading `arguments` in
/// place of the block arguments.
static void inlineBody(RewriterBase &rewriter, ElementwiseOp from, Block &to,
                       ValueRange arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(from.getBodyBlock()->getArguments(), arguments))
    rewriter.replaceAllUsesWith(argument, value);
  auto &operations = from.getBodyBlock()->getOperations();
  to.getOperations().splice(to.end(), operations, operations.begin(),
                            std::prev(operations.end()));
}

/// Adds to `body` an argument for each operand of `op` that `inputs` does not
/// hold yet; returns the arguments for all operands of `op`.
static SmallVector<Value> addInputs(ElementwiseOp op, Block &body,
                                    llvm::SetVector<Value> &inputs) {
  SmallVector<Value> arguments;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    if (inputs.insert(input))
      body.addArgument(op.getBodyArgument(index).getType(), op.getLoc());
    unsigned position = llvm::find(inputs, input) - inputs.begin();
    arguments.push_back(body.getArgument(position));
  }
  return arguments;
}

/// Lets all users of a value that is yielded twice read its first result.
static void mergeEqualResults(RewriterBase &rewriter, ElementwiseOp op) {
  llvm::SmallDenseMap<Value, OpResult> first;
  for (auto [value, result] :
       llvm::zip(op.getYield().getValues(), op->getOpResults())) {
    auto [it, inserted] = first.try_emplace(value, result);
    if (!inserted && it->second.getType() == result.getType())
      rewriter.replaceAllUsesWith(result, it->second);
  }
}

FailureOr<ElementwiseOp> fad::fuseSiblings(RewriterBase &rewriter,
                                           ElementwiseOp first,
                                           ElementwiseOp second) {
  for (Value input : second.getInputs())
    if (Operation *def = input.getDefiningOp())
      if (def->getBlock() == first->getBlock() && !def->isBeforeInBlock(first))
        return rewriter.notifyMatchFailure(
            second, "an operand is not available at the first operation");

  auto body = std::make_unique<Block>();
  llvm::SetVector<Value> inputs;
  SmallVector<Value> firstArguments = addInputs(first, *body, inputs);
  SmallVector<Value> secondArguments = addInputs(second, *body, inputs);
  SmallVector<Value> yielded(first.getYield().getValues());
  llvm::append_range(yielded, second.getYield().getValues());
  auto resolve = [&](ElementwiseOp op, ValueRange arguments, Value &value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == op.getBodyBlock())
      value = arguments[argument.getArgNumber()];
  };
  for (Value &value : yielded) {
    resolve(first, firstArguments, value);
    resolve(second, secondArguments, value);
  }
  inlineBody(rewriter, first, *body, firstArguments);
  inlineBody(rewriter, second, *body, secondArguments);

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(first);
  SmallVector<Type> types(first.getResultTypes());
  llvm::append_range(types, second.getResultTypes());
  ElementwiseOp fused =
      buildElementwise(rewriter, first.getLoc(), types, std::move(body),
                       inputs.getArrayRef(), yielded);
  fused->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  unsigned count = first.getNumResults();
  rewriter.replaceOp(first, fused.getResults().take_front(count));
  rewriter.replaceOp(second, fused.getResults().drop_front(count));
  simplifyBody(rewriter, fused);
  mergeEqualResults(rewriter, fused);
  return fused;
}

FailureOr<ElementwiseOp> fad::fuseProducer(RewriterBase &rewriter,
                                           ElementwiseOp producer,
                                           ElementwiseOp consumer) {
  if (!llvm::all_of(producer->getUsers(),
                    [&](Operation *user) { return user == consumer; }))
    return rewriter.notifyMatchFailure(producer, "has another user");

  auto body = std::make_unique<Block>();
  llvm::SetVector<Value> inputs;
  SmallVector<Value> producerArguments = addInputs(producer, *body, inputs);
  SmallVector<Value> results;
  for (Value value : producer.getYield().getValues()) {
    auto argument = dyn_cast<BlockArgument>(value);
    results.push_back(argument ? producerArguments[argument.getArgNumber()]
                               : value);
  }
  inlineBody(rewriter, producer, *body, producerArguments);

  SmallVector<Value> consumerArguments;
  for (auto [index, input] : llvm::enumerate(consumer.getInputs())) {
    if (input.getDefiningOp() == producer) {
      consumerArguments.push_back(
          results[cast<OpResult>(input).getResultNumber()]);
      continue;
    }
    if (inputs.insert(input))
      body->addArgument(consumer.getBodyArgument(index).getType(),
                        consumer.getLoc());
    unsigned position = llvm::find(inputs, input) - inputs.begin();
    consumerArguments.push_back(body->getArgument(position));
  }
  SmallVector<Value> yielded;
  for (Value value : consumer.getYield().getValues()) {
    auto argument = dyn_cast<BlockArgument>(value);
    yielded.push_back(argument ? consumerArguments[argument.getArgNumber()]
                               : value);
  }
  inlineBody(rewriter, consumer, *body, consumerArguments);

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(consumer);
  ElementwiseOp fused =
      buildElementwise(rewriter, consumer.getLoc(), consumer.getResultTypes(),
                       std::move(body), inputs.getArrayRef(), yielded);
  fused->setDiscardableAttrs(consumer->getDiscardableAttrDictionary());
  rewriter.replaceOp(consumer, fused.getResults());
  rewriter.eraseOp(producer);
  simplifyBody(rewriter, fused);
  return fused;
}

StringRef fad::describe(ElementwiseOp op) {
  StringRef name;
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    if (matchPattern(&inner, m_Constant()))
      continue;
    if (!name.empty())
      return op->getName().getStringRef();
    name = inner.getName().getStringRef();
  }
  return name.empty() ? op->getName().getStringRef() : name;
}
