//===- Fuse.cpp - Fuse elementwise operations -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Remarks.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFUSE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

#define DEBUG_TYPE "fad-fuse"

/// The most operand and result tensors of one operation: a kernel with more
/// streams gains nothing, and its parameters are limited.
static constexpr unsigned kMaxTensors = 16;

static unsigned countTensors(ElementwiseOp op) {
  return op.getNumResults() + llvm::count_if(op.getInputs().getTypes(),
                                             llvm::IsaPred<RankedTensorType>);
}

/// Whether `op` is elementwise, or holds no data. Fusion across other
/// operations would extend lifetimes across them.
static bool isFusedAcross(Operation *op) {
  return isa<ElementwiseOp, ResidualOp, tensor::EmptyOp, tensor::DimOp,
             linalg::FillOp>(op) ||
         matchPattern(op, m_Constant());
}

namespace {
/// The positions of the operations of a block. After changes of the block, a
/// query renumbers all operations now and then.
class Positions {
public:
  void number(Block &block) {
    positions.clear();
    for (auto [position, op] : llvm::enumerate(block))
      positions[&op] = position;
  }
  unsigned get(Operation *op) const { return positions.lookup(op); }
  void set(Operation *op, unsigned position) { positions[op] = position; }
  void erase(Operation *op) { positions.erase(op); }
  bool isBefore(Operation *first, Operation *second) const {
    return get(first) < get(second);
  }

private:
  DenseMap<Operation *, unsigned> positions;
};

/// Earlier operations that are candidates for fusion, by the tensors they read
/// and by their number of tensors.
class Candidates {
public:
  void clear() { lists.clear(); }
  void insert(ElementwiseOp op);
  void erase(ElementwiseOp op);
  /// Lists the candidates that read `tensor` under `replacement`, which they
  /// read from now on.
  void rename(Value tensor, Value replacement);
  /// The first candidate in the block that reads a tensor of `op`, and the
  /// first for each number of tensors, as far as these fit into one operation.
  ElementwiseOp find(ElementwiseOp op, const Positions &positions) const;
  /// Whether a candidate reads a tensor of `op`, and has too many others.
  bool hasLarge(ElementwiseOp op) const;

private:
  using Key = std::pair<Value, unsigned>;
  DenseMap<Key, SmallVector<ElementwiseOp, 1>> lists;
};

/// Fuses the elementwise operations of one block. As the listener of its own
/// rewriter, it forgets operations when they are erased: a later operation may
/// have the address of an erased one.
class Fuser : RewriterBase::Listener {
public:
  explicit Fuser(Block &block)
      : block(block), rewriter(getContext(block), this) {}

  void run();
  unsigned countProducers() const { return numProducers; }
  unsigned countSiblings() const { return numSiblings; }
  /// The operations that stay apart after `run`, each with the reason.
  ArrayRef<std::pair<ElementwiseOp, std::string>> getRefused() const {
    return refused;
  }

private:
  void notifyOperationReplaced(Operation *op, ValueRange values) override;
  void notifyOperationErased(Operation *op) override;

  static MLIRContext *getContext(Block &block) {
    return block.getParentOp()->getContext();
  }
  /// Visits every operation once; returns whether another round may fuse more.
  bool runOnce();
  /// Fuses `op` into its only consumer or with an earlier sibling. Returns
  /// whether it did; `next` is the operation to visit next.
  bool fuse(ElementwiseOp op, Operation *&next);
  /// The only operation that reads results of `op`, if it pays to fuse with it.
  ElementwiseOp getOnlyConsumer(ElementwiseOp op);
  /// Records why this round leaves `op` apart; the first reason counts.
  void refuse(ElementwiseOp op, const Twine &reason);
  /// Records `fused`, in the current stretch, at `position`.
  void record(ElementwiseOp fused, unsigned position);

  Block &block;
  IRRewriter rewriter;
  /// The stretches between operations across which nothing is fused: the number
  /// of the stretch of each fusible elementwise operation.
  DenseMap<Operation *, unsigned> stretches;
  Positions positions;
  /// The visited operations of the current stretch, and its number.
  Candidates candidates;
  unsigned current = 0;
  /// The operations fused in this round.
  DenseSet<Operation *> fusedOps;
  /// The operations that this round leaves apart.
  SmallVector<std::pair<ElementwiseOp, std::string>> refused;
  unsigned numProducers = 0, numSiblings = 0;
};
} // namespace

/// Calls `callback` on each tensor that `op` reads, once.
static void forEachTensor(ElementwiseOp op,
                          llvm::function_ref<void(Value)> callback) {
  llvm::SmallDenseSet<Value> seen;
  for (Value input : op.getInputs())
    if (isa<RankedTensorType>(input.getType()) && seen.insert(input).second)
      callback(input);
}

void Candidates::insert(ElementwiseOp op) {
  unsigned count = countTensors(op);
  forEachTensor(op, [&](Value input) { lists[{input, count}].push_back(op); });
}

void Candidates::erase(ElementwiseOp op) {
  unsigned count = countTensors(op);
  forEachTensor(op, [&](Value input) {
    auto it = lists.find({input, count});
    if (it != lists.end())
      llvm::erase(it->second, op);
  });
}

void Candidates::rename(Value tensor, Value replacement) {
  for (unsigned count = 0; count <= kMaxTensors; ++count) {
    auto it = lists.find({tensor, count});
    if (it == lists.end())
      continue;
    SmallVector<ElementwiseOp, 1> readers = std::move(it->second);
    lists.erase(it);
    lists[{replacement, count}] = std::move(readers);
  }
}

ElementwiseOp Candidates::find(ElementwiseOp op,
                               const Positions &positions) const {
  unsigned count = countTensors(op);
  ElementwiseOp first;
  forEachTensor(op, [&](Value input) {
    for (unsigned other = 0; other + count <= kMaxTensors; ++other) {
      auto it = lists.find({input, other});
      if (it != lists.end() && !it->second.empty() &&
          (!first || positions.isBefore(it->second.front(), first)))
        first = it->second.front();
    }
  });
  return first;
}

bool Candidates::hasLarge(ElementwiseOp op) const {
  bool found = false;
  forEachTensor(op, [&](Value input) {
    for (unsigned other =
             kMaxTensors + 1 - std::min(countTensors(op), kMaxTensors);
         other <= kMaxTensors; ++other)
      found |= !lists.lookup({input, other}).empty();
  });
  return found;
}

ElementwiseOp Fuser::getOnlyConsumer(ElementwiseOp op) {
  Operation *consumer = nullptr;
  for (Operation *user : op->getUsers()) {
    if (consumer && consumer != user)
      return {};
    consumer = user;
  }
  auto elementwise = dyn_cast_or_null<ElementwiseOp>(consumer);
  auto it = stretches.find(consumer);
  if (!elementwise || it == stretches.end())
    return {};
  if (it->second != current) {
    refuse(op, "an operation that is not elementwise stands before its reader");
    return {};
  }
  if (countTensors(op) + countTensors(elementwise) > kMaxTensors) {
    refuse(op, "it and its reader have more than " + Twine(kMaxTensors) +
                   " tensors");
    return {};
  }
  return elementwise;
}

void Fuser::refuse(ElementwiseOp op, const Twine &reason) {
  if (refused.empty() || refused.back().first != op)
    refused.emplace_back(op, reason.str());
}

void Fuser::notifyOperationReplaced(Operation *op, ValueRange values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    candidates.rename(result, value);
}

void Fuser::notifyOperationErased(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    candidates.erase(elementwise);
  stretches.erase(op);
  positions.erase(op);
  fusedOps.erase(op);
}

void Fuser::record(ElementwiseOp fused, unsigned position) {
  positions.set(fused, position);
  stretches[fused] = current;
  fusedOps.insert(fused);
}

bool Fuser::fuse(ElementwiseOp op, Operation *&next) {
  if (ElementwiseOp consumer = getOnlyConsumer(op)) {
    bool adjacent = next == consumer;
    unsigned position = positions.get(consumer);
    // It cannot fail, since nothing else reads `op`.
    ElementwiseOp fused = *fuseProducer(rewriter, op, consumer);
    LDBG() << "fused a producer into its reader at " << fused.getLoc();
    ++numProducers;
    record(fused, position);
    if (adjacent)
      next = fused;
    return true;
  }
  ElementwiseOp sibling = candidates.find(op, positions);
  auto isBefore = [&](Operation *first, Operation *second) {
    return positions.isBefore(first, second);
  };
  bool isComputed = sibling && canFuseSiblings(sibling, op, isBefore);
  if (sibling && !isComputed)
    refuse(op, "an operand is computed after the operation to join");
  else if (!sibling && candidates.hasLarge(op))
    refuse(op, "it and a reader of the same tensor have more than " +
                   Twine(kMaxTensors) + " tensors");
  if (!isComputed) {
    candidates.insert(op);
    return false;
  }
  unsigned position = positions.get(sibling);
  ElementwiseOp fused = fuseSiblings(rewriter, sibling, op);
  LDBG() << "fused readers of the same tensor at " << fused.getLoc();
  ++numSiblings;
  record(fused, position);
  candidates.insert(fused);
  return true;
}

bool Fuser::runOnce() {
  stretches.clear();
  fusedOps.clear();
  refused.clear();
  positions.number(block);
  unsigned stretch = 0;
  for (Operation &op : block) {
    stretch += !isFusedAcross(&op);
    // A kernel fixes the operands and results of its operation.
    if (isa<ElementwiseOp>(op) && !op.hasAttr(FadDialect::kKernelAttr))
      stretches[&op] = stretch;
  }
  bool changed = false;
  Operation *next = nullptr;
  for (Operation *op = &block.front(); op; op = next) {
    next = op->getNextNode();
    auto it = stretches.find(op);
    if (it == stretches.end())
      continue;
    if (it->second != current)
      candidates.clear();
    current = it->second;
    changed |= fuse(cast<ElementwiseOp>(op), next);
  }
  candidates.clear();
  for (ElementwiseOp op : block.getOps<ElementwiseOp>())
    if (fusedOps.contains(op))
      simplifyFused(rewriter, op);
  return changed;
}

void Fuser::run() {
  while (runOnce())
    ;
  // The last round fuses nothing, so that what it refuses is still there.
  for (const auto &[op, reason] : refused)
    LDBG() << op->getLoc() << " stays apart, as " << reason;
}

namespace {
struct FadFusePass : fad::impl::FadFuseBase<FadFusePass> {
  using FadFuseBase::FadFuseBase;

  void runOnOperation() override {
    if (JointFunction::isJoint(getOperation()))
      return;
    unsigned producers = 0, siblings = 0;
    for (Block *block : findTensorBlocks(getOperation())) {
      Fuser fuser(*block);
      fuser.run();
      producers += fuser.countProducers();
      siblings += fuser.countSiblings();
      numRefused += fuser.getRefused().size();
      for (const auto &[op, reason] : fuser.getRefused())
        emitMissedRemark(op, DEBUG_TYPE, "NotFused", reason);
    }
    numProducers += producers;
    numSiblings += siblings;
    if (producers + siblings)
      emitPassedRemark(getOperation(), DEBUG_TYPE, "Fused",
                       {{"Producers", producers}, {"Siblings", siblings}});
  }
};
} // namespace
