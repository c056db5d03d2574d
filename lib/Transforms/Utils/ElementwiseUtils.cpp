//===- ElementwiseUtils.cpp - Building and fusing fad.elementwise ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/BitVector.h"
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
    if (parent == function ||
        isa_and_nonnull<scf::SCFDialect>(parent->getDialect()))
      blocks.push_back(block);
  });
  return blocks;
}

bool fad::eraseDeadOps(Block &block, ValueRange kept) {
  bool erased = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) &&
        llvm::none_of(op.getResults(), [&](Value result) {
          return llvm::is_contained(kept, result);
        })) {
      op.erase();
      erased = true;
    }
  return erased;
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
static SmallVector<Value> internalizeCaptures(OpBuilder &builder, Block &body) {
  SmallVector<Value> scalars;
  llvm::SmallDenseMap<Value, Value> insideOf;
  builder.setInsertionPointToStart(&body);
  for (Operation &op : body)
    for (OpOperand &operand : op.getOpOperands()) {
      Value value = operand.get();
      if (!isCaptured(value, body))
        continue;
      Value &inside = insideOf[value];
      if (!inside && matchPattern(value, m_Constant())) {
        inside = builder.clone(*value.getDefiningOp())->getResult(0);
      } else if (!inside) {
        scalars.push_back(value);
        inside = body.addArgument(value.getType(), value.getLoc());
      }
      operand.set(inside);
    }
  return scalars;
}

/// The operands that `body` does not read. One tensor always stays, because it
/// gives the shape.
static llvm::BitVector findUnusedInputs(Block &body, ValueRange inputs) {
  llvm::BitVector unused(inputs.size());
  bool keepsTensor = false;
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs)) {
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
    else
      keepsTensor |= isa<RankedTensorType>(input.getType());
  }
  for (auto [index, input] : llvm::enumerate(inputs))
    if (!keepsTensor && isa<RankedTensorType>(input.getType())) {
      unused.reset(index);
      keepsTensor = true;
    }
  return unused;
}

ElementwiseOp fad::buildElementwise(OpBuilder &builder, Location loc,
                                    TypeRange resultTypes,
                                    std::unique_ptr<Block> body,
                                    ValueRange inputs, ValueRange yielded) {
  SmallVector<Value> operands(inputs);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body.get());
    YieldOp::create(builder, loc, yielded);
    llvm::append_range(operands, internalizeCaptures(builder, *body));
    eraseDeadOps(*body);
  }

  llvm::BitVector dropped = findUnusedInputs(*body, operands);
  SmallVector<Value> kept;
  for (auto [index, operand] : llvm::enumerate(operands))
    if (!dropped.test(index))
      kept.push_back(operand);
  body->eraseArguments(dropped);

  auto op = ElementwiseOp::create(builder, loc, resultTypes, kept);
  op.getBody().getBlocks().clear();
  op.getBody().push_back(body.release());
  return op;
}

ElementwiseOp fad::cloneYielding(OpBuilder &builder, ElementwiseOp op,
                                 ArrayRef<Value> scalars) {
  auto body = std::make_unique<Block>();
  IRMapping mapping;
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    mapping.map(argument,
                body->addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inside = appendTo(*body, op.getContext());
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    inside.clone(inner, mapping);
  auto shape = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<Type> types;
  SmallVector<Value> yielded;
  for (Value scalar : scalars) {
    types.push_back(shape.clone(scalar.getType()));
    yielded.push_back(mapping.lookupOrDefault(scalar));
  }
  return buildElementwise(builder, op.getLoc(), types, std::move(body),
                          op.getInputs(), yielded);
}

/// Moves the operations of `from` to the end of the body of `to`, with
/// `arguments` in place of the body arguments of `from`. Returns the yielded
/// values of `from`.
static SmallVector<Value> appendBody(RewriterBase &rewriter, ElementwiseOp from,
                                     ElementwiseOp to, ValueRange arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(from.getBodyBlock()->getArguments(), arguments))
    rewriter.replaceAllUsesWith(argument, value);
  SmallVector<Value> yielded(from.getYield().getValues());
  auto &operations = from.getBodyBlock()->getOperations();
  to.getBodyBlock()->getOperations().splice(to.getYield()->getIterator(),
                                            operations, operations.begin(),
                                            std::prev(operations.end()));
  return yielded;
}

/// The argument for `input` in the body of `op`, whose operands become
/// `inputs`; a missing one is added.
static Value getOrAddInput(ElementwiseOp op, Value input, Type type,
                           SmallVectorImpl<Value> &inputs) {
  size_t position = llvm::find(inputs, input) - inputs.begin();
  if (position < inputs.size())
    return op.getBodyArgument(position);
  inputs.push_back(input);
  return op.getBodyBlock()->addArgument(type, input.getLoc());
}

/// Builds the operation that takes over the body of `base`, with other
/// operands, results and attributes.
static ElementwiseOp takeBody(RewriterBase &rewriter, ElementwiseOp base,
                              ElementwiseOp place, TypeRange resultTypes,
                              ValueRange inputs, ValueRange yielded) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(place);
  base.getYield()->setOperands(yielded);
  auto fused =
      ElementwiseOp::create(rewriter, place.getLoc(), resultTypes, inputs);
  fused.getBody().takeBody(base.getBody());
  fused->setDiscardableAttrs(place->getDiscardableAttrDictionary());
  return fused;
}

/// Replaces all results of a value that is yielded twice by the first one.
static void mergeEqualResults(RewriterBase &rewriter, ElementwiseOp op) {
  llvm::SmallDenseMap<Value, OpResult> first;
  for (auto [value, result] :
       llvm::zip(op.getYield().getValues(), op->getOpResults())) {
    auto [it, inserted] = first.try_emplace(value, result);
    if (!inserted && it->second.getType() == result.getType())
      rewriter.replaceAllUsesWith(result, it->second);
  }
}

void fad::simplifyFused(RewriterBase &rewriter, ElementwiseOp op) {
  simplifyBody(rewriter, op);
  mergeEqualResults(rewriter, op);
  llvm::BitVector dropped =
      findUnusedInputs(*op.getBodyBlock(), op.getInputs());
  op.getBodyBlock()->eraseArguments(dropped);
  op->eraseOperands(dropped);
}

bool fad::canFuseSiblings(
    ElementwiseOp first, ElementwiseOp second,
    llvm::function_ref<bool(Operation *, Operation *)> isBefore) {
  return llvm::all_of(second.getInputs(), [&](Value input) {
    Operation *def = input.getDefiningOp();
    return !def || def->getBlock() != first->getBlock() || isBefore(def, first);
  });
}

ElementwiseOp fad::fuseSiblings(RewriterBase &rewriter, ElementwiseOp first,
                                ElementwiseOp second) {
  SmallVector<Value> inputs(first.getInputs()), arguments;
  for (auto [index, input] : llvm::enumerate(second.getInputs()))
    arguments.push_back(getOrAddInput(
        first, input, second.getBodyArgument(index).getType(), inputs));
  SmallVector<Value> yielded(first.getYield().getValues());
  llvm::append_range(yielded, appendBody(rewriter, second, first, arguments));
  SmallVector<Type> types(first.getResultTypes());
  llvm::append_range(types, second.getResultTypes());
  ElementwiseOp fused =
      takeBody(rewriter, first, first, types, inputs, yielded);
  unsigned count = first.getNumResults();
  rewriter.replaceOp(first, fused.getResults().take_front(count));
  rewriter.replaceOp(second, fused.getResults().drop_front(count));
  return fused;
}

FailureOr<ElementwiseOp> fad::fuseProducer(RewriterBase &rewriter,
                                           ElementwiseOp producer,
                                           ElementwiseOp consumer) {
  if (!llvm::all_of(producer->getUsers(),
                    [&](Operation *user) { return user == consumer; }))
    return rewriter.notifyMatchFailure(producer, "has another user");

  SmallVector<Value> inputs(producer.getInputs()), arguments;
  for (auto [index, input] : llvm::enumerate(consumer.getInputs())) {
    if (input.getDefiningOp() == producer)
      arguments.push_back(producer.getYield().getOperand(
          cast<OpResult>(input).getResultNumber()));
    else
      arguments.push_back(getOrAddInput(
          producer, input, consumer.getBodyArgument(index).getType(), inputs));
  }
  SmallVector<Value> yielded =
      appendBody(rewriter, consumer, producer, arguments);
  ElementwiseOp fused = takeBody(rewriter, producer, consumer,
                                 consumer.getResultTypes(), inputs, yielded);
  rewriter.replaceOp(consumer, fused.getResults());
  rewriter.eraseOp(producer);
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

std::optional<bool> fad::asksForGreater(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGT:
  case arith::CmpFPredicate::UGE:
    return true;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULT:
  case arith::CmpFPredicate::ULE:
    return false;
  default:
    return std::nullopt;
  }
}

std::optional<llvm::SmallBitVector> fad::findOwnLoops(linalg::LinalgOp op,
                                                      OpOperand &operand) {
  llvm::SmallBitVector loops(op.getNumLoops());
  for (auto [expr, size] :
       llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(),
                       op.getShape(&operand))) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (loop ? loops.test(loop.getPosition()) : size != 1)
      return std::nullopt;
    if (loop)
      loops.set(loop.getPosition());
  }
  return loops;
}
