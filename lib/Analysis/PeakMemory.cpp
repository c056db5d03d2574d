//===- PeakMemory.cpp - Peak memory of forward and backward ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model: operations run in their order, in the buffers that bufferization
// assigns to tensors (`BufferPlan`). A buffer is in memory from the operation
// that allocates it to the last that reads a tensor in it; one that leaves the
// function, or that its caller owns, to the end. An operation with blocks takes
// the most that one of them takes, while it runs.
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/PeakMemory.h"
#include "fad/Analysis/BufferPlan.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The sizes of the tensors of one function, as numbers.
class Sizes {
public:
  explicit Sizes(SizeFunction lookup, ScaleFunction scale = nullptr)
      : lookup(lookup), scale(scale) {}

  uint64_t getDim(Value tensor, unsigned dim) {
    return evaluate(symbols.getDimSize(tensor, dim));
  }
  /// The bytes of `value`; an error if they are unknown.
  FailureOr<uint64_t> getBytes(Value value) {
    if (!isa<UnrankedTensorType>(value.getType()))
      if (std::optional<SizeExpr> bytes = getValueBytes(value, symbols))
        return scale ? scale(value, evaluate(*bytes)) : evaluate(*bytes);
    return emitError(value.getLoc(), "cannot tell how many bytes a value of "
                                     "type ")
           << value.getType()
           << " takes; tensors must be ranked, and elements integers, "
              "floating-point numbers, index, or complex numbers or fixed "
              "vectors of them";
  }

private:
  uint64_t evaluate(const SizeExpr &expr) {
    auto sizeOf = [&](const SizeSymbols::Symbol &symbol) {
      return std::optional(lookup(symbol));
    };
    return *symbols.substitute(expr, sizeOf).getConstant();
  }

  SizeFunction lookup;
  ScaleFunction scale;
  SizeSymbols symbols;
};

/// Adds up the bytes of distinct values.
class Sum {
public:
  explicit Sum(Sizes &sizes) : sizes(sizes) {}

  LogicalResult add(Value value, uint64_t &total) {
    if (!seen.insert(value).second)
      return success();
    FailureOr<uint64_t> bytes = sizes.getBytes(value);
    if (failed(bytes))
      return failure();
    total = llvm::SaturatingAdd(total, *bytes);
    return success();
  }
  bool has(Value value) const { return seen.contains(value); }

private:
  Sizes &sizes;
  DenseSet<Value> seen;
};

/// The peak of a block beyond the memory in use before it.
class BlockPeak {
public:
  BlockPeak(Sizes &sizes, ValueRange owned, ValueRange held)
      : sizes(sizes), owned(owned), held(held) {}

  FailureOr<FunctionPeak> compute(Block &block);

private:
  /// Adds the peaks of the blocks of `op`, the operation at `position`.
  LogicalResult addNested(Operation *op, unsigned position, FunctionPeak &peak);
  /// Adds the buffers of `plan`.
  LogicalResult addBuffers(const BufferPlan &plan, bool isFunction,
                           FunctionPeak &peak);
  /// Lets `bytes` be there from operation `begin` to operation `end`.
  void add(uint64_t bytes, unsigned begin, unsigned end) {
    added[begin] = llvm::SaturatingAdd(added[begin], bytes);
    freed[end] = llvm::SaturatingAdd(freed[end], bytes);
  }

  Sizes &sizes;
  ValueRange owned, held;
  /// The bytes allocated by each operation, and those freed after it.
  SmallVector<uint64_t> added, freed;
};
} // namespace

LogicalResult BlockPeak::addNested(Operation *op, unsigned position,
                                   FunctionPeak &peak) {
  uint64_t most = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      FailureOr<FunctionPeak> inside =
          BlockPeak(sizes, block.getArguments(), {}).compute(block);
      if (failed(inside))
        return failure();
      most = std::max(most, inside->bytes);
      peak.allocations += inside->allocations;
    }
  add(most, position, position);
  return success();
}

LogicalResult BlockPeak::addBuffers(const BufferPlan &plan, bool isFunction,
                                    FunctionPeak &peak) {
  DenseSet<Value> counted(held.begin(), held.end());
  for (const BufferPlan::Buffer &buffer : plan.getBuffers()) {
    bool isMade = buffer.owner == BufferPlan::Owner::Block;
    // Values that control flow passes on are results of its operation.
    if ((!isMade && !counted.contains(buffer.value)) ||
        (!isFunction && buffer.isReturned))
      continue;
    peak.allocations += isMade;
    FailureOr<uint64_t> bytes = sizes.getBytes(buffer.value);
    if (failed(bytes))
      return failure();
    bool stays = buffer.isReturned || buffer.owner == BufferPlan::Owner::Other;
    add(*bytes, buffer.begin, stays ? plan.size() - 1 : buffer.end);
  }
  return success();
}

FailureOr<FunctionPeak> BlockPeak::compute(Block &block) {
  BufferPlan plan(block, owned);
  added.assign(plan.size(), 0);
  freed.assign(plan.size(), 0);
  // Asking for sizes may insert operations.
  auto ops = llvm::to_vector(llvm::make_pointer_range(block));

  FunctionPeak peak;
  if (failed(addBuffers(plan, isa<func::FuncOp>(block.getParentOp()), peak)))
    return failure();
  for (auto [position, op] : llvm::enumerate(ops))
    if (isa<RegionBranchOpInterface>(op) &&
        failed(addNested(op, position, peak)))
      return failure();
  uint64_t alive = 0;
  for (auto [op, more, less] : llvm::zip_equal(ops, added, freed)) {
    alive = llvm::SaturatingAdd(alive, more);
    if (alive > peak.bytes) {
      peak.bytes = alive;
      peak.op = op;
    }
    alive -= less;
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

static unsigned countPrimalResults(func::FuncOp forward) {
  unsigned count = 0;
  for (unsigned i = 0, end = forward.getNumResults(); i < end; ++i)
    count += !forward.getResultAttr(i, FadDialect::kResidualAttr);
  return count;
}

SmallVector<Value> fad::getBackwardSources(func::FuncOp forward,
                                           func::FuncOp backward) {
  SmallVector<Value> sources;
  ValueRange returned = forward.front().getTerminator()->getOperands();
  unsigned nextResidual = countPrimalResults(forward);
  for (unsigned i = 0, end = backward.getNumArguments(); i < end; ++i) {
    auto cotangent =
        backward.getArgAttrOfType<IntegerAttr>(i, FadDialect::kCotangentAttr);
    sources.push_back(
        returned[cotangent ? cotangent.getInt() : nextResidual++]);
  }
  return sources;
}

namespace {
/// Estimates the memory of a pair.
class PairEstimator {
public:
  PairEstimator(func::FuncOp forward, func::FuncOp backward,
                SizeFunction sizeOf, ScaleFunction scale)
      : forward(forward), backward(backward), sizeOf(sizeOf), scale(scale),
        numResults(countPrimalResults(forward)),
        sources(getBackwardSources(forward, backward)),
        forwardSizes(sizeOf, scale) {}

  FailureOr<PeakEstimate> run(bool ownsResiduals);

private:
  LogicalResult visitForward();
  /// Separates kept residuals from arguments and results.
  LogicalResult visitArguments();
  LogicalResult visitBackward(bool ownsResiduals);

  func::FuncOp forward, backward;
  SizeFunction sizeOf;
  ScaleFunction scale;
  unsigned numResults;
  SmallVector<Value> sources;
  Sizes forwardSizes;
  PeakEstimate estimate;
  /// The tensor arguments of backward that are kept residuals, and the bytes of
  /// scalar ones.
  SmallVector<Value> kept;
  uint64_t keptScalars = 0;
};
} // namespace

LogicalResult PairEstimator::visitForward() {
  FailureOr<FunctionPeak> peak =
      BlockPeak(forwardSizes, {}, {}).compute(forward.front());
  if (failed(peak))
    return failure();
  estimate.forward = *peak;
  return success();
}

LogicalResult PairEstimator::visitArguments() {
  Sum sum(forwardSizes), cotangents(forwardSizes);
  for (BlockArgument argument : forward.getArguments())
    if (failed(sum.add(argument, estimate.arguments)))
      return failure();
  ValueRange returned = forward.front().getTerminator()->getOperands();
  for (Value result : returned.take_front(numResults))
    if (failed(sum.add(result, estimate.results)))
      return failure();
  for (auto [argument, source] : llvm::zip(backward.getArguments(), sources)) {
    if (backward.getArgAttr(argument.getArgNumber(),
                            FadDialect::kCotangentAttr)) {
      if (failed(cotangents.add(source, estimate.cotangents)))
        return failure();
      continue;
    }
    bool isTensor = isa<TensorType>(source.getType());
    if (isTensor && !sum.has(source))
      kept.push_back(argument);
    uint64_t before = estimate.kept;
    if (failed(sum.add(source, estimate.kept)))
      return failure();
    if (!isTensor)
      keptScalars += estimate.kept - before;
  }
  return success();
}

LogicalResult PairEstimator::visitBackward(bool ownsResiduals) {
  auto sizeInBackward = [&](const SizeSymbols::Symbol &symbol) {
    if (!symbol.argumentDim)
      return sizeOf(symbol);
    auto [argument, dim] = *symbol.argumentDim;
    return forwardSizes.getDim(sources[argument], dim);
  };
  Sizes sizes(sizeInBackward, scale);
  ValueRange owned = ownsResiduals ? ValueRange(kept) : ValueRange();
  FailureOr<FunctionPeak> peak =
      BlockPeak(sizes, owned, kept).compute(backward.front());
  if (failed(peak))
    return failure();
  estimate.backward = *peak;
  estimate.backward.bytes =
      llvm::SaturatingAdd(estimate.backward.bytes, keptScalars);
  Sum gradients(sizes);
  for (Value gradient : backward.front().getTerminator()->getOperands())
    if (failed(gradients.add(gradient, estimate.gradients)))
      return failure();
  return success();
}

FailureOr<PeakEstimate> PairEstimator::run(bool ownsResiduals) {
  if (failed(visitForward()) || failed(visitArguments()) ||
      failed(visitBackward(ownsResiduals)))
    return failure();
  return estimate;
}

FailureOr<PeakEstimate> fad::estimatePeak(func::FuncOp forward,
                                          func::FuncOp backward,
                                          SizeFunction sizeOf,
                                          bool ownsResiduals,
                                          ScaleFunction scale) {
  return PairEstimator(forward, backward, sizeOf, scale).run(ownsResiduals);
}

FailureOr<PeakEstimate> fad::estimatePeak(func::FuncOp function,
                                          SizeFunction sizeOf) {
  Sizes sizes(sizeOf);
  FailureOr<FunctionPeak> peak =
      BlockPeak(sizes, {}, {}).compute(function.front());
  if (failed(peak))
    return failure();
  PeakEstimate estimate;
  estimate.forward = *peak;
  Sum sum(sizes);
  for (BlockArgument argument : function.getArguments())
    if (failed(sum.add(argument, estimate.arguments)))
      return failure();
  for (Value result : function.front().getTerminator()->getOperands())
    if (failed(sum.add(result, estimate.results)))
      return failure();
  return estimate;
}
