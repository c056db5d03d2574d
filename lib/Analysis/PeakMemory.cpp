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
// the most that one of them takes, while it runs. `LiveBytes` adds up.
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/PeakMemory.h"
#include "fad/Analysis/BufferPlan.h"
#include "fad/Analysis/LiveBytes.h"
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
} // namespace

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The peak of `block` beyond the memory in use before it. The block may
/// overwrite and free its arguments `owned`; the arguments `held` count.
static FailureOr<FunctionPeak> findPeak(Block &block, Sizes &sizes,
                                        ValueRange owned = {},
                                        ValueRange held = {});

/// Adds the peaks of the blocks of `op`, the operation at `position`.
static LogicalResult addNested(Operation *op, unsigned position, Sizes &sizes,
                               LiveBytes &live, FunctionPeak &peak) {
  uint64_t most = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      FailureOr<FunctionPeak> inside =
          findPeak(block, sizes, block.getArguments());
      if (failed(inside))
        return failure();
      most = std::max(most, inside->bytes);
      peak.allocations += inside->allocations;
    }
  live.add(most, position, position);
  return success();
}

/// Adds the buffers of `plan`, of a block of `isFunction`.
static LogicalResult addBuffers(const BufferPlan &plan, bool isFunction,
                                ValueRange held, Sizes &sizes, LiveBytes &live,
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
    live.add(*bytes, buffer.begin, stays ? plan.size() - 1 : buffer.end);
  }
  return success();
}

FailureOr<FunctionPeak> findPeak(Block &block, Sizes &sizes, ValueRange owned,
                                 ValueRange held) {
  BufferPlan plan(block, owned);
  LiveBytes live(plan.size());
  // Asking for sizes may insert operations.
  auto ops = llvm::to_vector(llvm::make_pointer_range(block));

  FunctionPeak peak;
  if (failed(addBuffers(plan, isa<func::FuncOp>(block.getParentOp()), held,
                        sizes, live, peak)))
    return failure();
  for (auto [position, op] : llvm::enumerate(ops))
    if (isa<RegionBranchOpInterface>(op) &&
        failed(addNested(op, position, sizes, live, peak)))
      return failure();
  LiveBytes::Peak most = live.getPeak();
  if (most.bytes == 0)
    return peak;
  peak.bytes = std::min<LiveBytes::Count>(most.bytes, UINT64_MAX);
  peak.op = ops[most.step];
  return peak;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The results of the primal function, which come before the residuals.
static ValueRange getPrimalResults(func::FuncOp forward) {
  unsigned count = 0;
  for (unsigned i = 0, end = forward.getNumResults(); i < end; ++i)
    count += !forward.getResultAttr(i, FadDialect::kResidualAttr);
  return ValueRange(forward.front().getTerminator()->getOperands())
      .take_front(count);
}

SmallVector<Value> fad::getBackwardSources(func::FuncOp forward,
                                           func::FuncOp backward) {
  SmallVector<Value> sources;
  ValueRange returned = forward.front().getTerminator()->getOperands();
  unsigned nextResidual = getPrimalResults(forward).size();
  for (unsigned i = 0, end = backward.getNumArguments(); i < end; ++i) {
    auto cotangent =
        backward.getArgAttrOfType<IntegerAttr>(i, FadDialect::kCotangentAttr);
    sources.push_back(
        returned[cotangent ? cotangent.getInt() : nextResidual++]);
  }
  return sources;
}

/// Adds the bytes of `values`, each of which counts once, to `total`.
static LogicalResult addBytes(ValueRange values, Sizes &sizes,
                              DenseSet<Value> &seen, uint64_t &total) {
  for (Value value : values) {
    if (!seen.insert(value).second)
      continue;
    FailureOr<uint64_t> bytes = sizes.getBytes(value);
    if (failed(bytes))
      return failure();
    total = llvm::SaturatingAdd(total, *bytes);
  }
  return success();
}

namespace {
/// Estimates the memory of a function, and of its backward function.
class Estimator {
public:
  Estimator(func::FuncOp forward, SizeFunction sizeOf,
            ScaleFunction scale = nullptr)
      : forward(forward), sizeOf(sizeOf), scale(scale), sizes(sizeOf, scale) {}

  /// `results` of forward are no residuals.
  LogicalResult visitForward(ValueRange results);
  LogicalResult visitBackward(func::FuncOp backward, bool ownsResiduals);

  PeakEstimate estimate;

private:
  /// Separates kept residuals from arguments and results.
  LogicalResult visitArguments(func::FuncOp backward);

  func::FuncOp forward;
  SizeFunction sizeOf;
  ScaleFunction scale;
  Sizes sizes;
  /// Values counted so far.
  DenseSet<Value> seen;
  SmallVector<Value> sources;
  /// The tensor arguments of backward that are kept residuals, and the bytes of
  /// scalar ones.
  SmallVector<Value> kept;
  uint64_t keptScalars = 0;
};
} // namespace

LogicalResult Estimator::visitForward(ValueRange results) {
  FailureOr<FunctionPeak> peak = findPeak(forward.front(), sizes);
  if (failed(peak) ||
      failed(
          addBytes(forward.getArguments(), sizes, seen, estimate.arguments)) ||
      failed(addBytes(results, sizes, seen, estimate.results)))
    return failure();
  estimate.forward = *peak;
  return success();
}

LogicalResult Estimator::visitArguments(func::FuncOp backward) {
  sources = getBackwardSources(forward, backward);
  DenseSet<Value> cotangents;
  for (auto [argument, source] : llvm::zip(backward.getArguments(), sources)) {
    if (backward.getArgAttr(argument.getArgNumber(),
                            FadDialect::kCotangentAttr)) {
      if (failed(addBytes(source, sizes, cotangents, estimate.cotangents)))
        return failure();
      continue;
    }
    bool isTensor = isa<TensorType>(source.getType());
    if (isTensor && !seen.contains(source))
      kept.push_back(argument);
    uint64_t before = estimate.kept;
    if (failed(addBytes(source, sizes, seen, estimate.kept)))
      return failure();
    if (!isTensor)
      keptScalars += estimate.kept - before;
  }
  return success();
}

LogicalResult Estimator::visitBackward(func::FuncOp backward,
                                       bool ownsResiduals) {
  if (failed(visitArguments(backward)))
    return failure();
  auto sizeInBackward = [&](const SizeSymbols::Symbol &symbol) {
    if (!symbol.argumentDim)
      return sizeOf(symbol);
    auto [argument, dim] = *symbol.argumentDim;
    return sizes.getDim(sources[argument], dim);
  };
  Sizes backwardSizes(sizeInBackward, scale);
  DenseSet<Value> gradients;
  FailureOr<FunctionPeak> peak =
      findPeak(backward.front(), backwardSizes,
               ownsResiduals ? ValueRange(kept) : ValueRange(), kept);
  if (failed(peak) ||
      failed(addBytes(backward.front().getTerminator()->getOperands(),
                      backwardSizes, gradients, estimate.gradients)))
    return failure();
  estimate.backward = *peak;
  estimate.backward.bytes =
      llvm::SaturatingAdd(estimate.backward.bytes, keptScalars);
  return success();
}

FailureOr<PeakEstimate> fad::estimatePeak(func::FuncOp forward,
                                          func::FuncOp backward,
                                          SizeFunction sizeOf,
                                          bool ownsResiduals,
                                          ScaleFunction scale) {
  Estimator estimator(forward, sizeOf, scale);
  if (failed(estimator.visitForward(getPrimalResults(forward))) ||
      failed(estimator.visitBackward(backward, ownsResiduals)))
    return failure();
  return estimator.estimate;
}

FailureOr<PeakEstimate> fad::estimatePeak(func::FuncOp function,
                                          SizeFunction sizeOf) {
  Estimator estimator(function, sizeOf);
  if (failed(estimator.visitForward(
          function.front().getTerminator()->getOperands())))
    return failure();
  return estimator.estimate;
}
