//===- RepeatedWork.cpp - Forward's work in backward ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds what a backward function, after all passes, computes without a
// cotangent. Dependence on cotangents is followed from the arguments through
// the operations, and inside of elementwise bodies through their scalars, since
// fusion puts repeated arithmetic and adjoints into one body.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Explanation/RepeatedWork.h"
#include "fad/Analysis/PeakMemory.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/OperationTimes.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;
using namespace mlir::fad;

/// The cotangents among the arguments of `backward`.
static SmallVector<Value> getCotangentsOf(func::FuncOp backward) {
  SmallVector<Value> cotangents;
  for (BlockArgument argument : backward.getArguments())
    if (backward.getArgAttr(argument.getArgNumber(),
                            FadDialect::kCotangentAttr))
      cotangents.push_back(argument);
  return cotangents;
}

/// The arguments in the body of `op` that hold elements of `dependent`, or of a
/// destination.
static SmallVector<Value>
getDependentArguments(Operation *op, const DenseSet<Value> &dependent) {
  SmallVector<Value> arguments;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (structured.isDpsInit(&operand) || dependent.contains(operand.get()))
        arguments.push_back(structured.getMatchingBlockArgument(&operand));
    return arguments;
  }
  auto elementwise = cast<ElementwiseOp>(op);
  for (auto [number, input] : llvm::enumerate(elementwise.getInputs()))
    if (dependent.contains(input))
      arguments.push_back(elementwise.getBodyArgument(number));
  return arguments;
}

/// The scalar operations in the body of `op` that only read: they widen an
/// argument, or look up its level.
static DenseSet<Operation *> findReads(Operation *op) {
  Block &body = op->getRegion(0).front();
  DenseSet<Value> levels;
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    for (auto [number, input] : llvm::enumerate(elementwise.getInputs()))
      if (input.getDefiningOp<UnpackOp>())
        levels.insert(elementwise.getBodyArgument(number));
  DenseSet<Operation *> reads;
  for (Operation &inner : body.without_terminator()) {
    bool ofLevels = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return levels.contains(operand);
    });
    ofLevels &= llvm::all_of(inner.getOperands(), [&](Value operand) {
      return levels.contains(operand) || matchPattern(operand, m_Constant());
    });
    if (ofLevels)
      levels.insert(inner.result_begin(), inner.result_end());
    if (ofLevels ||
        (isa<arith::ExtFOp>(inner) && isa<BlockArgument>(inner.getOperand(0))))
      reads.insert(&inner);
  }
  return reads;
}

namespace {
class Finder {
public:
  Finder(func::FuncOp forward, func::FuncOp backward, Target target,
         OperationTimes::SizeFunction sizeOf)
      : backward(backward), times(getTargetTimes(target), std::move(sizeOf)),
        dependent(llvm::from_range, getCotangentsOf(backward)) {
    for (auto [argument, source] : llvm::zip_equal(
             backward.getArguments(), getBackwardSources(forward, backward)))
      times.bind(argument, source);
  }

  SmallVector<RepeatedWork> run();

private:
  /// Adds the part of `op`, which depends on a cotangent, that does not.
  void addPart(Operation *op);
  /// Adds `work`, whose scalar operations are `inner`.
  void add(RepeatedWork work, ArrayRef<Operation *> inner);
  /// Lets transcendental functions that a value and its derivative share count
  /// once.
  void share();

  /// The transcendental functions of elementwise work.
  struct Functions {
    unsigned work;
    Cost::Count time;
  };
  func::FuncOp backward;
  OperationTimes times;
  /// The values that depend on a cotangent.
  DenseSet<Value> dependent;
  SmallVector<RepeatedWork> repeated;
  /// By the tensors that the work reads, in the order of their addresses.
  llvm::MapVector<std::vector<const void *>, SmallVector<Functions, 2>,
                  std::map<std::vector<const void *>, unsigned>>
      functions;
};
} // namespace

void Finder::add(RepeatedWork work, ArrayRef<Operation *> inner) {
  if (auto op = dyn_cast<ElementwiseOp>(work.op)) {
    DenseSet<Operation *> readers(llvm::from_range, inner);
    std::vector<const void *> inputs;
    for (auto [number, input] : llvm::enumerate(op.getInputs()))
      if (llvm::any_of(op.getBodyArgument(number).getUsers(),
                       [&](Operation *user) { return readers.contains(user); }))
        inputs.push_back(input.getAsOpaquePointer());
    llvm::sort(inputs);
    if (Cost::Count time = times.getTimeInBody(
            op, inner, {0, 0, times.getTarget().transcendental});
        time != 0)
      functions[inputs].push_back({unsigned(repeated.size()), time});
  }
  repeated.push_back(std::move(work));
}

void Finder::addPart(Operation *op) {
  RepeatedWork work{op, {}, 0};
  SmallVector<Operation *> others;
  // The body of a contraction or reduction computes a part of the sum.
  if (isa<ElementwiseOp, linalg::LinalgOp>(op) && isElementwise(op)) {
    Block &body = op->getRegion(0).front();
    SmallVector<Value> scalars = getDependentArguments(op, dependent);
    DenseSet<Value> linear(llvm::from_range, scalars);
    DenseSet<Operation *> ops(llvm::from_range, findDependent(body, scalars));
    DenseSet<Operation *> reads = findReads(op);
    for (Operation &inner : body.without_terminator())
      if (ops.contains(&inner))
        linear.insert(inner.result_begin(), inner.result_end());
      else if (!reads.contains(&inner))
        others.push_back(&inner);
    work.time = saturate(times.getTimeInBody(op, others, times.getTarget()));
    for (auto [scalar, result] :
         llvm::zip_equal(body.getTerminator()->getOperands(), op->getResults()))
      if (!linear.contains(scalar))
        work.results.push_back(result);
  }
  DenseSet<Value> independent(llvm::from_range, work.results);
  for (Value result : op->getResults())
    if (!independent.contains(result))
      dependent.insert(result);
  if (work.time != 0)
    add(std::move(work), others);
}

void Finder::share() {
  for (auto &[inputs, sharing] : functions) {
    if (sharing.size() < 2 || sharing.size() >= kManyReaders)
      continue;
    Cost::Count least = sharing.front().time;
    for (const Functions &each : sharing)
      least = std::min(least, each.time);
    for (const Functions &each : ArrayRef(sharing).drop_front())
      repeated[each.work].time -= saturate(least);
  }
}

SmallVector<RepeatedWork> Finder::run() {
  for (Operation &op : backward.front().without_terminator()) {
    // A size of a cotangent is none of its elements.
    bool depends = false;
    if (!isa<tensor::DimOp>(op))
      forEachOutsideOperand(&op, [&](OpOperand &operand) {
        depends |= dependent.contains(operand.get());
      });
    if (depends) {
      addPart(&op);
    } else if (op.getNumResults() != 0 && !isView(&op) && !isLookup(&op)) {
      SmallVector<Operation *> inner;
      if (auto elementwise = dyn_cast<ElementwiseOp>(op))
        for (Operation &each : *elementwise.getBodyBlock())
          inner.push_back(&each);
      add({&op, op.getResults(), saturate(times.getTime(&op))}, inner);
    }
  }
  share();
  return std::move(repeated);
}

SmallVector<RepeatedWork> fad::findRepeatedWork(
    func::FuncOp forward, func::FuncOp backward, Target target,
    llvm::function_ref<uint64_t(const SizeSymbols::Symbol &)> sizeOf) {
  return Finder(forward, backward, target, sizeOf).run();
}
