//===- ShortenLifetimes.cpp - Order forward and backward for memory -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSHORTENLIFETIMES
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Whether `op` may move between its operands and its users.
static bool isMovable(Operation *op) {
  return !op->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(op);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

namespace {
/// Moves operations that depend on no cotangent, or only on the size of one, to
/// their first reader.
class BackwardOrder {
public:
  explicit BackwardOrder(func::FuncOp backward) : backward(backward) {}

  void run();

private:
  void findMovable();
  /// Moves the movable backward slice of `op` before `op`.
  void moveOperandsBefore(Operation *op);

  func::FuncOp backward;
  /// Movable operations that were not moved yet.
  DenseSet<Operation *> movable;
};
} // namespace

void BackwardOrder::findMovable() {
  DenseSet<Value> dependent;
  for (BlockArgument argument : backward.getArguments())
    if (backward.getArgAttr(argument.getArgNumber(),
                            FadDialect::kCotangentAttr))
      dependent.insert(argument);
  for (Operation &op : backward.front()) {
    bool depends = false;
    forEachOutsideOperand(&op, [&](OpOperand &operand) {
      depends |= dependent.contains(operand.get());
    });
    if (depends && isa<tensor::DimOp>(op))
      continue; // Stays, and what needs the size alone may move.
    if (depends)
      dependent.insert(op.result_begin(), op.result_end());
    else if (isMovable(&op) && !op.use_empty())
      movable.insert(&op);
  }
}

void BackwardOrder::moveOperandsBefore(Operation *op) {
  SmallVector<Operation *> stack;
  auto pushOperands = [&](Operation *reader) {
    forEachOutsideOperand(reader, [&](OpOperand &operand) {
      Operation *def = operand.get().getDefiningOp();
      if (def && movable.contains(def))
        stack.push_back(def);
    });
  };
  pushOperands(op);
  while (!stack.empty()) {
    Operation *next = stack.back();
    size_t size = stack.size();
    if (movable.contains(next))
      pushOperands(next);
    if (stack.size() != size)
      continue;
    stack.pop_back();
    if (movable.erase(next))
      next->moveBefore(op);
  }
}

void BackwardOrder::run() {
  findMovable();
  SmallVector<Operation *> fixed;
  for (Operation &op : backward.front())
    if (!movable.contains(&op))
      fixed.push_back(&op);
  for (Operation *op : fixed)
    moveOperandsBefore(op);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

namespace {
/// Moves operations that only backward needs to the first place where one of
/// their operand tensors is dead. Operations are numbered in the original
/// order.
class ForwardOrder {
public:
  explicit ForwardOrder(func::FuncOp forward) : forward(forward) {}

  void run();

private:
  static constexpr unsigned kNever = ~0u;

  /// Finds the operations that only residuals need.
  void findForBackward();
  /// The last reader of `value` other than operations for backward.
  unsigned getDeath(Value value) const;
  /// The operation that `op` may be moved behind, at the earliest and at best.
  unsigned findPlace(Operation *op) const;

  func::FuncOp forward;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> numbers;
  DenseSet<Operation *> forBackward;
};
} // namespace

void ForwardOrder::findForBackward() {
  for (Operation *op : llvm::reverse(ops)) {
    bool isForBackward =
        isMovable(op) && !op->use_empty() &&
        llvm::all_of(op->getUses(), [&](OpOperand &use) {
          Operation *user =
              forward.front().findAncestorOpInBlock(*use.getOwner());
          return user->hasTrait<OpTrait::IsTerminator>()
                     ? bool(forward.getResultAttr(use.getOperandNumber(),
                                                  FadDialect::kResidualAttr))
                     : forBackward.contains(user);
        });
    if (isForBackward)
      forBackward.insert(op);
  }
}

unsigned ForwardOrder::getDeath(Value value) const {
  Operation *def = value.getDefiningOp();
  // Arguments do not die, nor do values without data.
  if (!def || !isa<TensorType>(value.getType()) ||
      isa<tensor::EmptyOp, linalg::FillOp>(def) ||
      matchPattern(def, m_Constant()))
    return kNever;
  unsigned death = numbers.lookup(def);
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = def->getBlock()->findAncestorOpInBlock(*user);
    if (ancestor->hasTrait<OpTrait::IsTerminator>())
      return kNever;
    if (!forBackward.contains(ancestor))
      death = std::max(death, numbers.lookup(ancestor));
  }
  return death;
}

unsigned ForwardOrder::findPlace(Operation *op) const {
  unsigned defined = 0, death = kNever;
  forEachOutsideOperand(op, [&](OpOperand &operand) {
    if (Operation *def = operand.get().getDefiningOp())
      defined = std::max(defined, numbers.lookup(def));
    death = std::min(death, getDeath(operand.get()));
  });
  return std::max(defined, death);
}

void ForwardOrder::run() {
  for (Operation &op : forward.front()) {
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
  findForBackward();
  // Moved operations go behind the operation at their new place, and behind
  // those moved there before.
  DenseMap<unsigned, Operation *> lasts;
  for (auto [number, op] : llvm::enumerate(ops)) {
    if (!forBackward.contains(op))
      continue;
    unsigned place = findPlace(op);
    if (place >= number)
      continue;
    Operation *&last = lasts.try_emplace(place, ops[place]).first->second;
    op->moveAfter(last);
    last = op;
    numbers[op] = place;
  }
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct FadShortenLifetimesPass
    : fad::impl::FadShortenLifetimesBase<FadShortenLifetimesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // fad-select-residuals separates joint functions operation by operation;
    // other functions keep their order.
    if (function.isExternal() || !function.getBody().hasOneBlock() ||
        JointFunction::isJoint(function))
      return;
    auto has = [&](auto &&attributes, StringRef name) {
      return attributes && llvm::any_of(attributes, [&](Attribute attribute) {
               return cast<DictionaryAttr>(attribute).contains(name);
             });
    };
    if (has(function.getArgAttrsAttr(), FadDialect::kCotangentAttr))
      BackwardOrder(function).run();
    else if (has(function.getResAttrsAttr(), FadDialect::kResidualAttr))
      ForwardOrder(function).run();
  }
};
} // namespace
