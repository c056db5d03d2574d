//===- Fuse.cpp - Fuse elementwise operations -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADFUSE
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

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
  /// Notes that `op` takes the place of `replaced`.
  void replace(Operation *replaced, Operation *op) {
    unsigned position = positions.lookup(replaced);
    positions.erase(replaced);
    positions[op] = position;
  }
  bool isBefore(Operation *first, Operation *second) const {
    return positions.lookup(first) < positions.lookup(second);
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
  /// The first candidate in the block that reads a tensor of `op`, and the
  /// first for each number of tensors, as far as these fit into one operation.
  ElementwiseOp find(ElementwiseOp op, const Positions &positions) const;

private:
  using Key = std::pair<Value, unsigned>;
  DenseMap<Key, SmallVector<ElementwiseOp, 1>> lists;
};

/// Fuses the elementwise operations of one block.
class Fuser {
public:
  explicit Fuser(Block &block) : block(block), rewriter(getContext(block)) {}

  void run();

private:
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
  /// Records that `fused`, in the current stretch, replaces `replaced` and
  /// `other`, which are erased.
  void replace(Operation *replaced, Operation *other, ElementwiseOp fused);

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

ElementwiseOp Fuser::getOnlyConsumer(ElementwiseOp op) {
  Operation *consumer = nullptr;
  for (Operation *user : op->getUsers()) {
    if (consumer && consumer != user)
      return {};
    consumer = user;
  }
  auto elementwise = dyn_cast_or_null<ElementwiseOp>(consumer);
  auto it = stretches.find(consumer);
  bool pays = elementwise && it != stretches.end() && it->second == current &&
              countTensors(op) + countTensors(elementwise) <= kMaxTensors;
  return pays ? elementwise : ElementwiseOp();
}

void Fuser::replace(Operation *replaced, Operation *other,
                    ElementwiseOp fused) {
  positions.replace(replaced, fused);
  for (Operation *op : {replaced, other}) {
    stretches.erase(op);
    fusedOps.erase(op);
  }
  stretches[fused] = current;
  fusedOps.insert(fused);
}

bool Fuser::fuse(ElementwiseOp op, Operation *&next) {
  if (ElementwiseOp consumer = getOnlyConsumer(op)) {
    bool adjacent = next == consumer;
    FailureOr<ElementwiseOp> fused = fuseProducer(rewriter, op, consumer);
    if (failed(fused))
      return false;
    replace(consumer, op, *fused);
    if (adjacent)
      next = *fused;
    return true;
  }
  ElementwiseOp sibling = candidates.find(op, positions);
  auto isBefore = [&](Operation *first, Operation *second) {
    return positions.isBefore(first, second);
  };
  if (!sibling || !canFuseSiblings(sibling, op, isBefore)) {
    candidates.insert(op);
    return false;
  }
  candidates.erase(sibling);
  ElementwiseOp fused = fuseSiblings(rewriter, sibling, op);
  replace(sibling, op, fused);
  candidates.insert(fused);
  return true;
}

bool Fuser::runOnce() {
  stretches.clear();
  fusedOps.clear();
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
}

namespace {
struct FadFusePass : fad::impl::FadFuseBase<FadFusePass> {
  using FadFuseBase::FadFuseBase;

  void runOnOperation() override {
    if (JointFunction::isJoint(getOperation()))
      return;
    for (Block *block : findTensorBlocks(getOperation()))
      Fuser(*block).run();
  }
};
} // namespace
