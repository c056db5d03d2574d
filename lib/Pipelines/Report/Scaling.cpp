//===- Scaling.cpp - Memory as a function of the batch --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scaling.h"
#include "fad/Analysis/BufferPlan.h"
#include "fad/IR/Fad.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The moments of one pair.
class PairMoments {
public:
  PairMoments(func::FuncOp forward, func::FuncOp backward,
              const DenseSet<unsigned> &weights,
              llvm::function_ref<uint64_t(Value)> bytesOf)
      : forward(forward), backward(backward), weights(weights),
        bytesOf(bytesOf) {}

  std::vector<Moment> run();

private:
  /// Calls `callback` on the tensor operands that `op` reads.
  static void forEachData(Operation *op,
                          llvm::function_ref<void(Value)> callback);
  /// Finds the values that depend on fixed values alone.
  void markDerived(Block &block);
  /// Finds gradients of weights, and the values of the same size in their
  /// computation.
  void markGradients();
  /// Adds the moments of `block`; `held` are the arguments in buffers that
  /// count, and `always` is there all the time.
  void addMoments(Block &block, ValueRange held, Moment always);
  /// The peak of the operations inside of `op`.
  uint64_t getNested(Operation *op);

  func::FuncOp forward, backward;
  const DenseSet<unsigned> &weights;
  llvm::function_ref<uint64_t(Value)> bytesOf;
  DenseSet<Value> fixed;
  std::vector<Moment> moments;
};
} // namespace

void PairMoments::forEachData(Operation *op,
                              llvm::function_ref<void(Value)> callback) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<TensorType>(operand.get().getType()) &&
        !(destination && destination.isDpsInit(&operand)))
      callback(operand.get());
}

void PairMoments::markDerived(Block &block) {
  for (Operation &op : block.without_terminator()) {
    bool hasData = false, isFixed = true;
    forEachData(&op, [&](Value operand) {
      hasData = true;
      isFixed &= fixed.contains(operand);
    });
    if (hasData && isFixed)
      fixed.insert(op.result_begin(), op.result_end());
  }
}

void PairMoments::markGradients() {
  SmallVector<Value> worklist;
  for (auto [number, value] :
       llvm::enumerate(backward.front().getTerminator()->getOperands())) {
    auto argument = backward.getResultAttrOfType<IntegerAttr>(
        number, FadDialect::kGradientAttr);
    if (argument && weights.contains(argument.getInt()))
      worklist.push_back(value);
  }
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!fixed.insert(value).second || !op)
      continue;
    // The destination, whose buffer is written.
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      worklist.push_back(
          destination.getTiedOpOperand(cast<OpResult>(value))->get());
    bool isAsLarge = true;
    uint64_t bytes = bytesOf(value);
    forEachData(op,
                [&](Value operand) { isAsLarge &= bytesOf(operand) == bytes; });
    if (isAsLarge)
      forEachData(op, [&](Value operand) { worklist.push_back(operand); });
  }
}

uint64_t PairMoments::getNested(Operation *op) {
  uint64_t most = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      BufferPlan plan(block, block.getArguments());
      uint64_t sum = 0;
      // As if all were there at once.
      for (const BufferPlan::Buffer &buffer : plan.getBuffers())
        if (buffer.owner == BufferPlan::Owner::Block && !buffer.isReturned)
          sum += bytesOf(buffer.value);
      for (Operation &inner : block)
        if (isa<RegionBranchOpInterface>(inner))
          sum += getNested(&inner);
      most = std::max(most, sum);
    }
  return most;
}

void PairMoments::addMoments(Block &block, ValueRange held, Moment always) {
  BufferPlan plan(block, held);
  DenseSet<Value> counted(held.begin(), held.end());
  std::vector<Moment> added(plan.size() + 1), freed(plan.size() + 1);
  auto add = [&](bool isFixed, uint64_t bytes, unsigned begin, unsigned end) {
    (isFixed ? added[begin].fixed : added[begin].growing) += bytes;
    (isFixed ? freed[end].fixed : freed[end].growing) += bytes;
  };
  SmallVector<std::pair<Operation *, unsigned>> controlFlow;
  for (auto [position, op] : llvm::enumerate(block))
    if (isa<RegionBranchOpInterface>(op))
      controlFlow.push_back({&op, position});
  for (const BufferPlan::Buffer &buffer : plan.getBuffers()) {
    if (buffer.owner != BufferPlan::Owner::Block &&
        !counted.contains(buffer.value))
      continue;
    bool stays = buffer.isReturned || buffer.owner == BufferPlan::Owner::Other;
    add(fixed.contains(buffer.value), bytesOf(buffer.value), buffer.begin,
        stays ? plan.size() - 1 : buffer.end);
  }
  for (auto [op, position] : controlFlow)
    add(/*isFixed=*/false, getNested(op), position, position);

  Moment now = always;
  for (auto [more, less] : llvm::zip(added, freed)) {
    now.fixed += more.fixed;
    now.growing += more.growing;
    moments.push_back(now);
    now.fixed -= less.fixed;
    now.growing -= less.growing;
  }
}

std::vector<Moment> PairMoments::run() {
  ValueRange returned = forward.front().getTerminator()->getOperands();
  DenseSet<Value> alive;
  for (BlockArgument argument : forward.getArguments()) {
    alive.insert(argument);
    if (weights.contains(argument.getArgNumber()))
      fixed.insert(argument);
  }
  markDerived(forward.front());
  Moment results;
  SmallVector<Value> residuals;
  for (auto [number, value] : llvm::enumerate(returned)) {
    if (forward.getResultAttr(number, FadDialect::kResidualAttr))
      residuals.push_back(value);
    else if (isa<TensorType>(value.getType()) && alive.insert(value).second)
      (fixed.contains(value) ? results.fixed : results.growing) +=
          bytesOf(value);
  }
  addMoments(forward.front(), {}, {});

  // Residuals come before cotangents, in the order of forward's results.
  SmallVector<Value> held;
  for (auto [argument, source] :
       llvm::zip(backward.getArguments(), residuals)) {
    if (fixed.contains(source))
      fixed.insert(argument);
    if (isa<TensorType>(source.getType()) && alive.insert(source).second)
      held.push_back(argument);
  }
  markDerived(backward.front());
  markGradients();
  addMoments(backward.front(), held, results);
  return std::move(moments);
}

std::vector<Moment>
fad::findMoments(func::FuncOp forward, func::FuncOp backward,
                 const DenseSet<unsigned> &weights,
                 llvm::function_ref<uint64_t(Value)> bytesOf) {
  return PairMoments(forward, backward, weights, bytesOf).run();
}
