//===- BufferPlan.cpp - Assignment of tensors to buffers ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns tensors to buffers in one pass over a block, as bufferization does: a
// view shares the buffer of its source, and a result takes the buffer of an
// operand that is read for the last time, if the operation allows that, or a
// new one. The lifetimes of buffers are the model of PeakMemory.cpp;
// `fad-reuse-buffers` follows the plan.
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/BufferPlan.h"
#include "fad/Analysis/Movement.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::fad;

/// As many tensors are in one buffer before an elementwise result is not
/// written to it any more.
static constexpr unsigned kMaxTensors = 8;

/// The tensor that `op` makes a view of, or null, and whether the view has all
/// of its elements.
static std::pair<Value, bool> getViewSource(Operation *op) {
  if (auto residual = dyn_cast<ResidualOp>(op))
    return {residual.getValue(), true};
  return {getViewedOperand(op), !isa<tensor::ExtractSliceOp>(op)};
}

/// Whether `operand` only tells its owner a shape.
static bool isShapeOnly(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    return elementwise.getBodyBlock()
        ->getArgument(operand.getOperandNumber())
        .use_empty();
  return isa<tensor::DimOp>(op);
}

bool fad::isReadElementwise(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getNumReductionLoops() == 0 &&
           structured.getMatchingIndexingMap(&operand).isIdentity();
  return isa<ElementwiseOp>(op) || op->hasTrait<OpTrait::Elementwise>();
}

bool fad::isInit(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.isDpsInit(&operand);
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  return loop && loop.getTiedLoopResult(&operand);
}

bool fad::isFillOfEmpty(Operation *op) {
  auto fill = dyn_cast_or_null<linalg::FillOp>(op);
  return fill && fill->getNumResults() == 1 &&
         fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
}

/// Whether `op` makes no buffer, because whatever starts from its result makes
/// one.
static bool isVirtual(Operation *op) {
  return isa<tensor::EmptyOp>(op) ||
         (isFillOfEmpty(op) && llvm::all_of(op->getUses(), isInit));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

const BufferPlan::Place *BufferPlan::find(Value value) const {
  auto it = places.find(value);
  return it == places.end() ? nullptr : &it->second;
}

void BufferPlan::noteUse(Buffer &buffer, Value value) {
  buffer.end = std::max(buffer.end, lastUses.lookup(value));
}

unsigned BufferPlan::addBuffer(Value value, Owner owner, unsigned position) {
  unsigned number = buffers.size();
  buffers.push_back({value, owner, position, position});
  buffers.back().numTensors = 1;
  noteUse(buffers.back(), value);
  places[value] = {number, /*isWhole=*/true};
  return number;
}

void BufferPlan::addView(Value view, Value source, bool isWhole) {
  // A view of an empty tensor has no buffer either.
  const Place *place = find(source);
  if (!place)
    return;
  Place viewed = {place->buffer, place->isWhole && isWhole};
  noteUse(buffers[viewed.buffer], view);
  ++buffers[viewed.buffer].numTensors;
  places[view] = viewed;
}

bool BufferPlan::isFree(OpOperand &operand, unsigned position) const {
  const Place *place = find(operand.get());
  if (!place || taken.contains(place->buffer))
    return false;
  const Buffer &buffer = buffers[place->buffer];
  if (buffer.owner == Owner::Other || buffer.end > position)
    return false;
  // Other operands must have been read before their place is written.
  return llvm::all_of(
      operand.getOwner()->getOpOperands(), [&](OpOperand &other) {
        const Place *otherPlace = find(other.get());
        return &other == &operand || isShapeOnly(other) || !otherPlace ||
               otherPlace->buffer != place->buffer ||
               (isReadElementwise(operand) && isReadElementwise(other) &&
                otherPlace->isWhole && place->isWhole);
      });
}

OpOperand *BufferPlan::findReusable(OpResult result, unsigned position) const {
  Operation *op = result.getOwner();
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  auto suits = [&](OpOperand &operand) {
    return operand.get().getType() == result.getType() &&
           isReadElementwise(operand) && !isShapeOnly(operand) &&
           isFree(operand, position) && find(operand.get())->isWhole &&
           buffers[find(operand.get())->buffer].numTensors < kMaxTensors;
  };
  if (!destination) {
    auto *it = llvm::find_if(op->getOpOperands(), suits);
    return it == op->getOpOperands().end() ? nullptr : &*it;
  }
  OpOperand *init = destination.getTiedOpOperand(result);
  if (isFree(*init, position))
    return init;
  // An init that is not read only gives the shape.
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.payloadUsesValueFromOperand(init) ||
      !isReadElementwise(*init))
    return nullptr;
  for (OpOperand *input : destination.getDpsInputOperands())
    if (suits(*input))
      return input;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The operand that starts as the loop's `result`, or null.
static OpOperand *getLoopInit(OpResult result) {
  auto loop = dyn_cast<LoopLikeOpInterface>(result.getOwner());
  return loop ? loop.getTiedLoopInit(result) : nullptr;
}

void BufferPlan::visit(Operation *op, unsigned position) {
  if (isVirtual(op))
    return;
  if (auto [source, isWhole] = getViewSource(op); source)
    return addView(op->getResult(0), source, isWhole);
  taken.clear();
  for (OpResult result : op->getResults()) {
    if (!isa<TensorType>(result.getType()))
      continue;
    if (op->hasTrait<OpTrait::ConstantLike>()) {
      addBuffer(result, Owner::Other, position);
      continue;
    }
    OpOperand *operand = getLoopInit(result);
    if (operand && !isFree(*operand, position))
      operand = nullptr;
    if (!operand)
      operand = findReusable(result, position);
    if (!operand) {
      taken.insert(addBuffer(result, Owner::Block, position));
      continue;
    }
    addView(result, operand->get(), /*isWhole=*/true);
    taken.insert(places[result].buffer);
    reused[result] = operand;
  }
}

void BufferPlan::visitTerminator(Operation *op, unsigned position) {
  DenseSet<Value> seen;
  bool leaves = isa<FunctionOpInterface>(op->getParentOp());
  for (Value value : op->getOperands()) {
    // The caller owns its arguments, and a value returned twice is one tensor.
    if (!isa<TensorType>(value.getType()) || !seen.insert(value).second ||
        (leaves && isa<BlockArgument>(value)))
      continue;
    const Place *place = find(value);
    if (place && place->isWhole) {
      Buffer &buffer = buffers[place->buffer];
      if (buffer.owner != Owner::Other && !buffer.isReturned) {
        buffer.isReturned = true;
        continue;
      }
    }
    // A result is no view of something else.
    if (leaves)
      buffers[addBuffer(value, Owner::Block, position)].isReturned = true;
  }
}

BufferPlan::BufferPlan(Block &block, ValueRange owned) {
  for (Operation &op : block) {
    op.walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        if (isa<TensorType>(operand.get().getType()) && !isShapeOnly(operand))
          lastUses[operand.get()] = numOps;
    });
    ++numOps;
  }
  DenseSet<Value> writable(owned.begin(), owned.end());
  for (BlockArgument argument : block.getArguments())
    if (isa<TensorType>(argument.getType()))
      addBuffer(argument,
                writable.contains(argument) ? Owner::Argument : Owner::Other,
                /*position=*/0);
  unsigned position = 0;
  for (Operation &op : block)
    if (position + 1 == numOps && op.hasTrait<OpTrait::IsTerminator>())
      visitTerminator(&op, position);
    else
      visit(&op, position++);
}
