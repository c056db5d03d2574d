//===- Footprint.cpp - Memory of a training step --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds up a training step. The peak of activations is that of PeakMemory.cpp;
// arguments, optimizer states and cotangents come on top. The largest batch
// within a budget is found by bisection of the same sum over the batch. In
// functions of fixed sizes, bytes grow with the batch, except those of weights,
// of values that depend on nothing else, and of gradients of weights.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "fad/Analysis/PeakMemory.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The memory of one pair of functions, at any batch.
class TrainingStep {
public:
  TrainingStep(const PolicyReport &report, const ReportRequest &request,
               func::FuncOp forward, func::FuncOp backward)
      : report(report), request(request), forward(forward), backward(backward),
        weights(findWeights()) {}

  /// `nullopt` if sizes are unknown; emits an error if the peak is unknown.
  FailureOr<std::optional<Footprint>> measure();
  /// The largest batch for the budget.
  FailureOr<BatchLimit> findLargestBatch();

  /// The measured bytes at the peak.
  uint64_t peak = 0;

private:
  /// Whether dimension `dim` of argument `argument` is the batch.
  bool isBatch(unsigned argument, unsigned dim);
  bool hasBatch();
  /// The size of `symbol`; `batch` replaces that of the batch.
  std::optional<uint64_t> lookup(const SizeSymbols::Symbol &symbol,
                                 std::optional<uint64_t> batch);
  /// `bytes` of `value`, scaled from `request.batch` to `batch` if no size is
  /// the batch.
  uint64_t scale(Value value, uint64_t bytes, std::optional<uint64_t> batch);
  FailureOr<PeakEstimate> estimate(std::optional<uint64_t> batch);
  uint64_t evaluate(const SizeExpr &expr, const SizeSymbols &symbols,
                    std::optional<uint64_t> batch);
  /// The arguments that are weights, by number.
  DenseSet<unsigned> findWeights();
  /// The values of a function of fixed sizes that are independent of the batch:
  /// the weights, values that depend on nothing else, and their gradients.
  DenseSet<Value> findFixed();
  /// The parts of the footprint that arguments say.
  Footprint getArguments(std::optional<uint64_t> batch);
  /// Emits an error if a required size is unknown.
  LogicalResult checkSizes();
  FailureOr<uint64_t> getTotal(uint64_t batch);

  const PolicyReport &report;
  const ReportRequest &request;
  func::FuncOp forward, backward;
  DenseSet<unsigned> weights;
  /// `findFixed`; nothing for a function whose batch is dynamic.
  std::optional<DenseSet<Value>> fixed;
  /// A dimension that has no size.
  std::string missing;
};
} // namespace

std::optional<Optimizer> fad::symbolizeOptimizer(StringRef name) {
  return llvm::StringSwitch<std::optional<Optimizer>>(name)
      .Case("none", Optimizer::none)
      .Case("sgd", Optimizer::sgd)
      .Case("momentum", Optimizer::momentum)
      .Case("adam", Optimizer::adam)
      .Default(std::nullopt);
}

uint64_t Footprint::getTotal() const {
  uint64_t total = 0;
  for (uint64_t part :
       {activations, others, weights, inputs, optimizer, workspace})
    total = llvm::SaturatingAdd(total, part);
  return total;
}

//===----------------------------------------------------------------------===//
// Values that are independent of the batch
//===----------------------------------------------------------------------===//

/// Calls `callback` on the tensor operands that `op` reads.
static void forEachData(Operation *op, function_ref<void(Value)> callback) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<TensorType>(operand.get().getType()) &&
        !(destination && destination.isDpsInit(&operand)))
      callback(operand.get());
}

/// Adds the values of `block` that depend on fixed values alone to `fixed`.
static void addDerived(Block &block, DenseSet<Value> &fixed) {
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

/// Adds `gradients`, of weights, and the values of the same size in their
/// computation to `fixed`.
static void addGradients(SmallVector<Value> gradients,
                         function_ref<uint64_t(Value)> bytesOf,
                         DenseSet<Value> &fixed) {
  while (!gradients.empty()) {
    Value value = gradients.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!fixed.insert(value).second || !op)
      continue;
    // The destination, whose buffer is written.
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      gradients.push_back(
          destination.getTiedOpOperand(cast<OpResult>(value))->get());
    bool isAsLarge = true;
    uint64_t bytes = bytesOf(value);
    forEachData(op,
                [&](Value operand) { isAsLarge &= bytesOf(operand) == bytes; });
    if (isAsLarge)
      forEachData(op, [&](Value operand) { gradients.push_back(operand); });
  }
}

DenseSet<Value> TrainingStep::findFixed() {
  DenseSet<Value> fixed;
  for (unsigned weight : weights)
    fixed.insert(forward.getArgument(weight));
  addDerived(forward.front(), fixed);
  SmallVector<Value> residuals, gradients;
  for (auto [number, value] :
       llvm::enumerate(forward.front().getTerminator()->getOperands()))
    if (forward.getResultAttr(number, FadDialect::kResidualAttr))
      residuals.push_back(value);
  // Residuals come before cotangents, in the order of forward's results.
  for (auto [argument, source] : llvm::zip(backward.getArguments(), residuals))
    if (fixed.contains(source))
      fixed.insert(argument);
  addDerived(backward.front(), fixed);
  for (auto [number, value] :
       llvm::enumerate(backward.front().getTerminator()->getOperands())) {
    auto argument = backward.getResultAttrOfType<IntegerAttr>(
        number, FadDialect::kGradientAttr);
    if (argument && weights.contains(argument.getInt()))
      gradients.push_back(value);
  }
  SizeSymbols symbols;
  auto bytesOf = [&](Value value) -> uint64_t {
    std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
    return bytes ? evaluate(*bytes, symbols, std::nullopt) : 0;
  };
  addGradients(std::move(gradients), bytesOf, fixed);
  return fixed;
}

//===----------------------------------------------------------------------===//
// At one size
//===----------------------------------------------------------------------===//

bool TrainingStep::isBatch(unsigned argument, unsigned dim) {
  auto type = dyn_cast<RankedTensorType>(forward.getArgumentTypes()[argument]);
  return dim == 0 && type && type.getRank() > 0 && type.isDynamicDim(0) &&
         !request.sizes.ofDims.count({argument, dim});
}

bool TrainingStep::hasBatch() {
  for (unsigned i = 0, end = forward.getNumArguments(); i < end; ++i)
    if (isBatch(i, 0))
      return true;
  return false;
}

std::optional<uint64_t> TrainingStep::lookup(const SizeSymbols::Symbol &symbol,
                                             std::optional<uint64_t> batch) {
  if (batch && symbol.argumentDim &&
      isBatch(symbol.argumentDim->first, symbol.argumentDim->second))
    return batch;
  // Unrelated sizes count as dimensions without a given size.
  std::optional<uint64_t> size =
      symbol.argumentDim ? request.sizes.lookup(symbol) : request.sizes.others;
  if (!size)
    missing = symbol.description;
  return size;
}

DenseSet<unsigned> TrainingStep::findWeights() {
  DenseSet<unsigned> weights;
  for (unsigned i = 0, end = backward.getNumResults(); i < end; ++i)
    if (auto number = backward.getResultAttrOfType<IntegerAttr>(
            i, FadDialect::kGradientAttr);
        number && !isBatch(number.getInt(), 0))
      weights.insert(number.getInt());
  return weights;
}

uint64_t TrainingStep::evaluate(const SizeExpr &expr,
                                const SizeSymbols &symbols,
                                std::optional<uint64_t> batch) {
  auto sizeOf = [&](const SizeSymbols::Symbol &symbol) {
    return std::optional(lookup(symbol, batch).value_or(0));
  };
  return *symbols.substitute(expr, sizeOf).getConstant();
}

uint64_t TrainingStep::scale(Value value, uint64_t bytes,
                             std::optional<uint64_t> batch) {
  if (!batch || !fixed || fixed->contains(value))
    return bytes;
  double scaled = double(bytes) * double(*batch) / double(request.batch);
  return scaled < 1.8e19 ? uint64_t(scaled)
                         : std::numeric_limits<uint64_t>::max();
}

Footprint TrainingStep::getArguments(std::optional<uint64_t> batch) {
  unsigned numbers = request.optimizer == Optimizer::adam       ? 2
                     : request.optimizer == Optimizer::momentum ? 1
                                                                : 0;
  Footprint footprint;
  SizeSymbols symbols;
  for (BlockArgument argument : forward.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    std::optional<SizeExpr> expr =
        type ? getValueBytes(argument, symbols) : std::nullopt;
    if (!expr)
      continue;
    uint64_t bytes = scale(argument, evaluate(*expr, symbols, batch), batch);
    if (!weights.contains(argument.getArgNumber())) {
      footprint.inputs = llvm::SaturatingAdd(footprint.inputs, bytes);
      continue;
    }
    footprint.weights = llvm::SaturatingAdd(footprint.weights, bytes);
    uint64_t element = *getScalarBytes(type.getElementType());
    uint64_t state = llvm::SaturatingMultiply<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(bytes / element, numbers),
        std::max<uint64_t>(element, 4));
    footprint.optimizer = llvm::SaturatingAdd(footprint.optimizer, state);
  }
  return footprint;
}

FailureOr<std::optional<Footprint>> TrainingStep::measure() {
  FailureOr<PeakEstimate> peaks = estimate(std::nullopt);
  if (failed(peaks))
    return failure();
  Footprint footprint = getArguments(std::nullopt);
  if (!missing.empty())
    return std::optional<Footprint>();
  peak = peaks->getPeak();
  uint64_t kept = 0;
  for (const ResidualInfo &info : report.residuals)
    if (std::optional<uint64_t> bytes = info.bytes.getConstant()) {
      (info.isOfActivation ? footprint.activations : footprint.others) +=
          *bytes;
      kept += *bytes;
    }
  footprint.workspace =
      llvm::SaturatingAdd(peak - std::min(peak, kept), peaks->cotangents);
  if (footprint.getTotal() == std::numeric_limits<uint64_t>::max())
    return forward.emitError("a training step takes 2^64 bytes or more; give "
                             "smaller sizes"),
           failure();
  return std::optional(footprint);
}

//===----------------------------------------------------------------------===//
// At any batch
//===----------------------------------------------------------------------===//

FailureOr<PeakEstimate> TrainingStep::estimate(std::optional<uint64_t> batch) {
  missing.clear();
  return estimatePeak(
      forward, backward,
      [&](const SizeSymbols::Symbol &symbol) {
        return lookup(symbol, batch).value_or(1);
      },
      /*ownsResiduals=*/true,
      [&](Value value, uint64_t bytes) { return scale(value, bytes, batch); });
}

LogicalResult TrainingStep::checkSizes() {
  if (missing.empty())
    return success();
  return forward.emitError("cannot tell the largest batch: the size of ")
             << missing << " is not known; give it with 'size'",
         failure();
}

FailureOr<uint64_t> TrainingStep::getTotal(uint64_t batch) {
  FailureOr<PeakEstimate> peaks = estimate(batch);
  if (failed(peaks))
    return failure();
  Footprint footprint = getArguments(batch);
  if (failed(checkSizes()))
    return failure();
  uint64_t total = footprint.getTotal();
  for (uint64_t part : {peaks->getPeak(), peaks->cotangents})
    total = llvm::SaturatingAdd(total, part);
  return total;
}

FailureOr<BatchLimit> TrainingStep::findLargestBatch() {
  if (!hasBatch())
    fixed = findFixed();
  constexpr uint64_t most = uint64_t(1) << 40;
  uint64_t budget = *request.memoryBudget;
  FailureOr<uint64_t> lowTotal = getTotal(1);
  if (failed(lowTotal))
    return failure();
  if (*lowTotal > budget)
    return BatchLimit{0, *lowTotal};
  // `low` fits and `high` does not.
  uint64_t low = 1, high = 2;
  FailureOr<uint64_t> highTotal = getTotal(high);
  while (succeeded(highTotal) && *highTotal <= budget) {
    if (high >= most)
      return BatchLimit{std::nullopt, *highTotal};
    low = high;
    lowTotal = highTotal;
    high *= 16;
    highTotal = getTotal(high);
  }
  // The total is close to a line, so that the next guess is close.
  for (bool halve = false; succeeded(highTotal) && high - low > 1;
       halve = !halve) {
    double part =
        halve ? 0.5
              : double(budget - *lowTotal) / double(*highTotal - *lowTotal);
    uint64_t middle = std::clamp<uint64_t>(low + uint64_t(part * (high - low)),
                                           low + 1, high - 1);
    FailureOr<uint64_t> total = getTotal(middle);
    if (failed(total))
      return failure();
    bool fits = *total <= budget;
    (fits ? low : high) = middle;
    (fits ? lowTotal : highTotal) = total;
  }
  if (failed(highTotal))
    return failure();
  return BatchLimit{low, *lowTotal};
}

LogicalResult fad::addFootprint(PolicyReport &report,
                                const ReportRequest &request,
                                const NestedPair &pair) {
  TrainingStep step(report, request, pair.forward, pair.backward);
  FailureOr<std::optional<Footprint>> footprint = step.measure();
  if (failed(footprint))
    return failure();
  if (*footprint) {
    report.footprint = **footprint;
    report.peak = step.peak;
  }
  if (!request.memoryBudget)
    return success();
  FailureOr<BatchLimit> batch = step.findLargestBatch();
  if (failed(batch))
    return failure();
  report.batch = *batch;
  return success();
}
