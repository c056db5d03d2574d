//===- DerivedValues.cpp - Residuals that share a root --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds saved values that can be computed from a common root. Each value points
// to the operand that it derives from, if any, so that values form a forest.
// From the leaves to the roots, each node compares the bits of keeping itself
// with those of keeping the saved values below, and the cheaper is kept.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Candidates/DerivedValues.h"
#include "fad/Analysis/Movement.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// Whether the operations of `body` are cheap to run again under `policy`.
static bool isCheap(Block &body, Policy policy) {
  return policy != Policy::fad ||
         llvm::all_of(body.without_terminator(), [](Operation &op) {
           return isa_and_nonnull<arith::ArithDialect>(op.getDialect());
         });
}

/// The least ratio of the elements of the main operand to those of the others
/// together, for which the others count as small: these are kept as well.
static constexpr int64_t kSmallRatio = 8;

/// Whether the tensors that `op` reads besides `full` have few elements, as far
/// as sizes are known; each of them is read through fewer loops.
static bool areOthersSmall(linalg::LinalgOp op, Value full) {
  int64_t elements = 0;
  bool readsTensorInBody = false;
  llvm::SmallPtrSet<Value, 4> seen;
  forEachOutsideOperand(op, [&](OpOperand &operand) {
    auto type = dyn_cast<TensorType>(operand.get().getType());
    if (!type || operand.get() == full || isOverwritten(operand))
      return;
    readsTensorInBody |= operand.getOwner() != op;
    if (seen.insert(operand.get()).second && type.hasStaticShape())
      elements += type.getNumElements();
  });
  auto type = cast<TensorType>(full.getType());
  return !readsTensorInBody &&
         (!type.hasStaticShape() ||
          elements <= type.getNumElements() / kSmallRatio);
}

/// The only tensor operand of `op` whose map has all loops, if each element of
/// the results is written once; null if there is none or several.
static Value getFullOperand(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (op.payloadUsesValueFromOperand(&init) ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        !mentionsAllLoops(map, ranges))
      return {};
  }
  Value full;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!mentionsAllLoops(map, ranges))
      continue;
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        (full && full != input->get()))
      return {};
    full = input->get();
  }
  if (!full || !isa<TensorType>(full.getType()) || !areOthersSmall(op, full))
    return {};
  return full;
}

/// Whether `body` only converts between types.
static bool isConversion(Block &body) {
  return llvm::all_of(body.without_terminator(),
                      llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>);
}

/// The root of the results of `op`; null if there is none.
static Value getRoot(Operation *op, Policy policy) {
  if (getMovement(op) == Movement::reshape)
    return op->getOperand(0);
  if (!isMemoryEffectFree(op))
    return {};
  if (auto region = dyn_cast<ElementwiseOp>(op)) {
    // A derivative that the policy wants to keep is not to be derived.
    bool keeps = policy == Policy::fad && !isConversion(*region.getBodyBlock());
    return keeps || region.getInputs().size() != 1 ? Value()
                                                   : region.getShapeOperand();
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !structured.hasPureTensorSemantics() ||
      structured.getNumReductionLoops() != 0 ||
      !isCheap(*structured.getBlock(), policy))
    return {};
  return getFullOperand(structured);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {
/// A value that values to be saved derive from, or one of them.
struct Node {
  Value value, root;
  SmallVector<unsigned, 2> derived;
  /// The bits an element that the saved values derived from this one take.
  uint64_t cost = 0;
  bool isSaved = false, isKept = false;
};

/// The forest of derived values.
class Forest {
public:
  Forest(ArrayRef<Value> saved, const SavingRules &rules) : rules(rules) {
    for (Value value : saved)
      add(value);
    for (Value value : saved)
      nodes[numberOf.lookup(value)].isSaved = true;
    order();
  }

  /// The operations between the kept roots and the saved values.
  DenseSet<Operation *> run();

private:
  /// Adds `value` and all of its roots.
  void add(Value value);
  /// Sorts the nodes so that each comes after its root.
  void order();
  /// The bits an element that keeping the node takes; the largest number if it
  /// would be computed again in any case.
  uint64_t getWidth(const Node &node) const;

  SavingRules rules;
  SmallVector<Node> nodes;
  DenseMap<Value, unsigned> numberOf;
  SmallVector<unsigned> sorted;
};
} // namespace

void Forest::add(Value value) {
  while (value && isa<RankedTensorType>(value.getType()) &&
         numberOf.try_emplace(value, nodes.size()).second) {
    Operation *def = value.getDefiningOp();
    Value root = def ? getRoot(def, rules.policy) : Value();
    if (root && !isa<RankedTensorType>(root.getType()))
      root = {};
    Node &node = nodes.emplace_back();
    node.value = value;
    node.root = root;
    value = root;
  }
}

void Forest::order() {
  for (auto [number, node] : llvm::enumerate(nodes)) {
    if (node.root)
      nodes[numberOf.lookup(node.root)].derived.push_back(number);
    else
      sorted.push_back(number);
  }
  for (unsigned next = 0; next < sorted.size(); ++next)
    llvm::append_range(sorted, nodes[sorted[next]].derived);
}

uint64_t Forest::getWidth(const Node &node) const {
  if (rules.isFree(node.value))
    return 0;
  Operation *def = node.value.getDefiningOp();
  if (node.root && rules.isRecomputed(def))
    return std::numeric_limits<uint32_t>::max();
  Type type = getElementTypeOrSelf(node.value);
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

DenseSet<Operation *> Forest::run() {
  for (unsigned number : llvm::reverse(sorted)) {
    Node &node = nodes[number];
    uint64_t width = getWidth(node), below = 0;
    for (unsigned derived : node.derived)
      below += nodes[derived].cost;
    // Among equals, the values nearer to their readers: less is computed.
    node.isKept = node.isSaved || width < below;
    node.cost = node.isKept ? width : below;
  }
  DenseSet<Operation *> ops;
  for (unsigned number : sorted) {
    Node &node = nodes[number];
    Node *root = node.root ? &nodes[numberOf.lookup(node.root)] : nullptr;
    if (!root || !root->isKept || rules.isFree(node.value))
      continue;
    node.isKept = true;
    ops.insert(node.value.getDefiningOp());
  }
  return ops;
}

DenseSet<Operation *> fad::findDerived(ArrayRef<Value> saved,
                                       const SavingRules &rules) {
  SmallVector<Value> tensors = llvm::filter_to_vector(saved, [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isIntOrIndexOrFloat();
  });
  return Forest(tensors, rules).run();
}
