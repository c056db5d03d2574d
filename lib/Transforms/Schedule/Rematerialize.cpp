//===- Rematerialize.cpp - Shorten lifetimes by recomputation -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/Analysis/PeakMemory.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Threading.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADREMATERIALIZE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

/// Tensors below this share of the peak are ignored.
static constexpr uint64_t kSmallShare = 512;
/// The share of a result, in quarters, that operands may take whose lifetimes
/// are extended instead.
static constexpr uint64_t kMaxQuarters = 3;
/// The most operations of one backward slice.
static constexpr unsigned kMaxBackwardSlice = 8;
/// The most rounds.
static constexpr unsigned kMaxRounds = 64;
/// The share of the peak to gain.
static constexpr uint64_t kMinGain = 64;

namespace {
/// Lowers the peak of a backward function.
class Rematerializer {
public:
  Rematerializer(func::FuncOp forward, func::FuncOp backward,
                 int64_t assumedSize)
      : forward(forward), backward(backward), assumedSize(assumedSize),
        block(backward.front()) {}

  /// Returns whether the backward function changed.
  bool run();

private:
  /// The memory of forward and backward; nothing if it is unknown.
  std::optional<PeakEstimate> estimate();
  /// Shortens lifetimes across `peak` by repeating operations behind it.
  /// Returns whether it repeated any.
  bool shorten(const FunctionPeak &peak, unsigned maxSlice);
  /// Whether `op` is cheap to repeat, and may be repeated.
  bool mayCompute(Operation *op) const;
  /// The first reader of `op` behind `peak`; null if there is none, or if the
  /// function returns a result of `op`.
  Operation *findLateReader(Operation *op, Operation *peak) const;
  /// Whether `value` has a use at `reader` or behind it.
  bool isAliveAt(Value value, Operation *reader) const;
  /// The backward slice that computes `op` at `reader` from live values, and
  /// from values that are small enough to stay live; `op` comes first. Empty if
  /// there is none.
  SmallVector<Operation *> findBackwardSlice(Operation *op, Operation *reader,
                                             unsigned maxSlice);
  /// Repeats `slice`, the backward slice of its first operation, before
  /// `reader`, and redirects uses behind `peak`.
  void computeAgain(SmallVector<Operation *> slice, Operation *peak,
                    Operation *reader);
  /// The bytes of the results of `op`.
  uint64_t getResultBytes(Operation *op);
  uint64_t getBytes(Value value);
  /// Erases all repeated operations.
  void undo();

  func::FuncOp forward, backward;
  int64_t assumedSize;
  Block &block;
  SizeSymbols symbols;
  /// Originals and their repetitions; neither is repeated again.
  llvm::SmallDenseSet<Operation *> done;
  /// Each original with its repetition.
  SmallVector<std::pair<Operation *, Operation *>> clones;
};
} // namespace

uint64_t Rematerializer::getBytes(Value value) {
  std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
  if (!bytes)
    return 0;
  auto assume = [&](unsigned) -> std::optional<uint64_t> {
    return assumedSize;
  };
  return *bytes->substitute(assume).getConstant();
}

uint64_t Rematerializer::getResultBytes(Operation *op) {
  uint64_t bytes = 0;
  for (Value result : op->getResults())
    bytes = llvm::SaturatingAdd(bytes, getBytes(result));
  return bytes;
}

std::optional<PeakEstimate> Rematerializer::estimate() {
  // A type whose bytes are unknown is an error only for users who ask for a
  // number. Diagnostics of other threads, on other modules, pass.
  ScopedDiagnosticHandler quiet(
      backward.getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
        return success(thread == llvm::get_threadid());
      });
  FailureOr<PeakEstimate> estimate = estimatePeak(
      forward, backward,
      [&](const SizeSymbols::Symbol &) -> uint64_t { return assumedSize; });
  if (failed(estimate))
    return std::nullopt;
  return *estimate;
}

/// Whether forward has the peak, so that lowering backward's gains nothing.
static bool isInForward(const PeakEstimate &estimate) {
  return estimate.getPeak() == estimate.forward.bytes;
}

bool Rematerializer::mayCompute(Operation *op) const {
  if (!isMemoryEffectFree(op) || done.contains(op) ||
      op->hasAttr(FadDialect::kKernelAttr))
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getNumReductionLoops() == 0 && !isa<linalg::FillOp>(op);
  return isa<ElementwiseOp, UnpackOp>(op) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

Operation *Rematerializer::findLateReader(Operation *op,
                                          Operation *peak) const {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *reader = block.findAncestorOpInBlock(*user);
    if (reader->hasTrait<OpTrait::IsTerminator>())
      return nullptr;
    if (peak->isBeforeInBlock(reader) &&
        (!first || reader->isBeforeInBlock(first)))
      first = reader;
  }
  return first;
}

bool Rematerializer::isAliveAt(Value value, Operation *reader) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !block.findAncestorOpInBlock(*user)->isBeforeInBlock(reader);
  });
}

SmallVector<Operation *> Rematerializer::findBackwardSlice(Operation *op,
                                                           Operation *reader,
                                                           unsigned maxSlice) {
  uint64_t allowance = getResultBytes(op) / 4 * kMaxQuarters;
  llvm::SetVector<Operation *> slice;
  slice.insert(op);
  bool isComplete = true;
  for (unsigned next = 0; next < slice.size(); ++next)
    forEachReadOperand(slice[next], [&](Value operand) {
      if (!isa<TensorType>(operand.getType()) || isAliveAt(operand, reader))
        return;
      uint64_t bytes = getBytes(operand);
      Operation *def = operand.getDefiningOp();
      if (bytes <= allowance)
        allowance -= bytes;
      else if (def && mayCompute(def) && slice.size() < maxSlice)
        slice.insert(def);
      else
        isComplete = false;
    });
  if (!isComplete)
    return {};
  return llvm::to_vector(slice.getArrayRef());
}

void Rematerializer::computeAgain(SmallVector<Operation *> slice,
                                  Operation *peak, Operation *reader) {
  Operation *last = slice.front();
  llvm::sort(slice, [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  });
  OpBuilder builder(reader);
  IRMapping mapping;
  for (Operation *op : slice) {
    Operation *clone = builder.clone(*op, mapping);
    clone->setAttr(FadDialect::kRematerializedAttr, builder.getUnitAttr());
    done.insert(op);
    done.insert(clone);
    clones.push_back({op, clone});
  }
  Operation *clone = mapping.lookup(last->getResult(0)).getDefiningOp();
  last->replaceUsesWithIf(clone->getResults(), [&](OpOperand &use) {
    return peak->isBeforeInBlock(block.findAncestorOpInBlock(*use.getOwner()));
  });
}

bool Rematerializer::shorten(const FunctionPeak &peak, unsigned maxSlice) {
  // Readers precede their operands, because repeating a reader extends the
  // lifetime of its operands.
  SmallVector<Operation *> candidates;
  for (Operation *op = peak.op; op; op = op->getPrevNode())
    if (op != peak.op && mayCompute(op))
      candidates.push_back(op);
  bool changed = false;
  for (Operation *op : candidates) {
    // An earlier slice may include the operation.
    if (done.contains(op))
      continue;
    Operation *reader = findLateReader(op, peak.op);
    if (!reader || getResultBytes(op) < peak.bytes / kSmallShare)
      continue;
    SmallVector<Operation *> slice = findBackwardSlice(op, reader, maxSlice);
    if (slice.empty())
      continue;
    computeAgain(std::move(slice), peak.op, reader);
    changed = true;
  }
  return changed;
}

void Rematerializer::undo() {
  for (auto [op, clone] : llvm::reverse(clones)) {
    clone->replaceAllUsesWith(op);
    clone->erase();
  }
}

bool Rematerializer::run() {
  std::optional<PeakEstimate> first = estimate(), last = first;
  for (unsigned round = 0; round < kMaxRounds && last && !isInForward(*last);
       ++round) {
    // A single operation has precedence over longer slices.
    if (!shorten(last->backward, 1) &&
        !shorten(last->backward, kMaxBackwardSlice))
      break;
    last = estimate();
  }
  if (!last || last->getPeak() > first->getPeak() - first->getPeak() / kMinGain)
    undo();
  // Originals that were read behind the peak only, and queries of sizes.
  return eraseDeadOps(block) || !clones.empty();
}

/// Whether `forward` returns the residuals of `backward`, in the form that
/// `fad-split` creates: residuals are the last results of `forward` and the
/// first arguments of `backward`, whose other arguments are cotangents of
/// different results.
static bool arePair(func::FuncOp forward, func::FuncOp backward) {
  for (func::FuncOp function : {forward, backward})
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return false;
  int64_t numResiduals = 0;
  while (numResiduals < backward.getNumArguments() &&
         backward.getArgAttr(numResiduals, FadDialect::kResidualAttr))
    ++numResiduals;
  int64_t numResults = int64_t(forward.getNumResults()) - numResiduals;
  if (numResults < 0)
    return false;
  for (int64_t i = 0, end = forward.getNumResults(); i < end; ++i)
    if (bool(forward.getResultAttr(i, FadDialect::kResidualAttr)) !=
            (i >= numResults) ||
        (i >= numResults && forward.getResultTypes()[i] !=
                                backward.getArgumentTypes()[i - numResults]))
      return false;
  for (int64_t i = numResiduals, end = backward.getNumArguments(); i < end;
       ++i) {
    auto cotangent =
        backward.getArgAttrOfType<IntegerAttr>(i, FadDialect::kCotangentAttr);
    if (!cotangent || cotangent.getInt() < 0 ||
        cotangent.getInt() >= numResults)
      return false;
  }
  return numResiduals > 0;
}

namespace {
struct FadRematerializePass
    : fad::impl::FadRematerializeBase<FadRematerializePass> {
  using FadRematerializeBase::FadRematerializeBase;

  void runOnOperation() override {
    bool changed = false;
    for (auto forward : getOperation().getOps<func::FuncOp>()) {
      FailureOr<func::FuncOp> backward = findPullback(forward);
      if (failed(backward))
        return signalPassFailure();
      if (*backward && arePair(forward, *backward))
        changed |= Rematerializer(forward, *backward, assumedSize).run();
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
