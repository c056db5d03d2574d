//===- PeakModel.cpp - Memory of a step under a selection -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prepares what is the same under each selection: the operations by number,
// their operands, bytes and limits, and the order in which forward executes
// them. The steps of a selection, and their buffers, are in PeakTimeline.cpp.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakModel.h"
#include "fad/Analysis/LiveBytes.h"
#include "fad/Analysis/Movement.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// The joint function by numbers
//===----------------------------------------------------------------------===//

/// Whether the results of `op` are in the memory of its operands, or take none.
static bool isInPlace(Operation *op) {
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return opaque.getKind() == OpaqueKind::view;
  return matchPattern(op, m_Constant()) ||
         isa<tensor::EmptyOp, tensor::DimOp>(op) ||
         getMovement(op) == Movement::reshape;
}

/// Whether a compiler that fuses `op` computes its results where they are read.
static bool fusesWithReaders(Operation *op) {
  // A tensor that no tensor determines, such as one of zeros.
  auto opaque = dyn_cast<OpaqueOp>(op);
  if (opaque && opaque.getKind() == OpaqueKind::repeat)
    return op->getNumOperands() == 0;
  return op->hasAttr(FadDialect::kFusesAttr) || isElementwise(op);
}

/// Whether `op` copies its operand, as for another layout alone: no element of
/// the copy is in the place of the operand's.
static bool isCopy(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return false;
  Operation &end = op->getRegion(0).front().back();
  return &op->getRegion(0).front().front() == &end && end.getNumOperands() &&
         llvm::all_of(end.getOperands(), llvm::IsaPred<BlockArgument>);
}

/// Whether `op`, a reduction, reduces the last dimensions: the sizes of its
/// result, but for those of 1 at the end, are the first ones of its operand.
static bool reducesLast(Operation *op) {
  ArrayRef<int64_t> from, to;
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (tensor.getRank() >= int64_t(from.size()))
        from = tensor.getShape();
  if (auto tensor = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
    to = tensor.getShape();
  while (!to.empty() && to.back() == 1)
    to = to.drop_back();
  return from.take_front(to.size()) == to;
}

/// Whether the kernel of a GPU that computes the operand of `op`, a sum over
/// all rows of a batch, has the sums of each element of the batch: the elements
/// are of many rows, and there are many sums.
static bool isSplitSum(Operation *op, FusionAttr limits) {
  Value rows = op->getOperand(0);
  auto flat = dyn_cast<RankedTensorType>(rows.getType());
  if (!flat || flat.getRank() != 2)
    return false;
  for (Operation *view = rows.getDefiningOp(); view && isInPlace(view);
       view = rows.getDefiningOp()) {
    if (view->getNumOperands() == 0)
      return false;
    rows = view->getOperand(0);
  }
  auto batch = dyn_cast<RankedTensorType>(rows.getType());
  Operation *maker = rows.getDefiningOp();
  if (!batch || !batch.hasStaticShape() || batch.getRank() < 3 || !maker ||
      !fusesWithReaders(maker) ||
      batch.getShape().back() != flat.getShape().back())
    return false;
  int64_t sums = batch.getShape().front() * batch.getShape().back();
  return sums >= limits.getSplitSums() &&
         batch.getNumElements() / sums >= limits.getSplitRows();
}

/// The bytes of temporary tensors while a framework executes the scalar
/// operations of `op` one by one on tensors.
static Cost::Count getTemporaryBytes(Operation *op, Cost::Count numElements) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return 0;
  Block &body = op->getRegion(0).front();
  llvm::SmallDenseMap<Operation *, unsigned> numberOf;
  for (Operation &inner : body)
    numberOf[&inner] = numberOf.size();
  LiveBytes live(numberOf.size());
  for (Operation &inner : body.without_terminator()) {
    if (matchPattern(&inner, m_Constant()))
      continue;
    for (Value result : inner.getResults()) {
      unsigned last = result.use_empty() ? numberOf.size() - 1 : 0;
      for (Operation *user : result.getUsers())
        last = std::max(last, numberOf[body.findAncestorOpInBlock(*user)]);
      live.add(numElements * getScalarBytes(result.getType()).value_or(0),
               numberOf[&inner], last);
    }
  }
  // The bytes at the end are those of the results, which count anyway.
  return live.getPeak().bytes - live.get().back();
}

unsigned PeakModel::getNumber(Value value) {
  auto [it, isNew] = numberOf.try_emplace(value, values.size());
  if (isNew) {
    values.push_back(value);
    nodeOf.push_back(-1);
    bytes.push_back(0);
    savedBytes.push_back(0);
    elements.push_back(0);
    decoding.push_back(0);
  }
  return it->second;
}

void PeakModel::addNode(Operation *op, CostModel &costs) {
  Node node{op};
  forEachReadOperand(op, [&](Value operand) {
    if (!isa<TensorType>(operand.getType()))
      return;
    // A square reads its operand once.
    if (unsigned number = getNumber(operand);
        !llvm::is_contained(node.reads, number))
      node.reads.push_back(number);
  });
  node.isInPlace = isInPlace(op);
  node.materializes = op->hasAttr(FadDialect::kMaterializesAttr);
  for (Value result : op->getResults()) {
    unsigned number = getNumber(result);
    node.results.push_back(number);
    nodeOf[number] = nodes.size();
    bytes[number] = costs.getBytes(result).value_or(kUnknownBytes);
    elements[number] = costs.getElements(result);
    Cost cost = costs.getSaveCost(result);
    savedBytes[number] = cost.isInfinite ? 0 : saturate(cost.bytes);
    if (std::optional<Encoding> encoding = costs.findEncoding(result))
      decoding[number] = encoding->countDecoding();
  }
  if (auto scratch = op->getAttrOfType<IntegerAttr>(FadDialect::kScratchAttr))
    node.temporaryBytes = scratch.getInt();
  if (fusion) {
    node.fuses = !node.isInPlace && fusesWithReaders(op);
    node.isFusedReader = node.fuses || isReduction(op);
    node.overwrites =
        (node.fuses && !isCopy(op)) || op->hasAttr(FadDialect::kOverwritesAttr);
    node.copiesFirst = !node.fuses &&
                       op->hasAttr(FadDialect::kOverwritesAttr) &&
                       llvm::count(op->getOperands(), op->getOperand(0)) == 1;
    if (isReduction(op)) {
      (reducesLast(op) ? node.reducesRows : node.reducesColumns) = true;
      node.isSplit = node.reducesColumns && isSplitSum(op, fusion);
    } else if (!node.fuses && !node.isInPlace) {
      node.time = costs.getRecomputeTime(op);
    }
    if (node.fuses)
      op->walk([&](Operation *inner) {
        // One with a body is what that does.
        node.numOperations += !inner->hasTrait<OpTrait::IsTerminator>() &&
                              inner->getNumRegions() == 0;
        node.isShared &= fusion.isShared(inner);
      });
  } else if (isExecutedByOthers && !op->hasAttr(FadDialect::kNodesAttr) &&
             op->getNumResults() != 0)
    node.temporaryBytes =
        getTemporaryBytes(op, costs.getElements(op->getResult(0)));
  nodes.push_back(std::move(node));
}

PeakModel::PeakModel(const JointFunction &joint, CostModel &costs)
    : launchTime(costs.getLaunchTime()) {
  Block &block = joint.getFunction().front();
  linkTime = costs.getLinkTime();
  overwritesShared = costs.getTarget() == Target::gpu;
  isExecutedByOthers =
      llvm::any_of(block.getArguments(), [&](BlockArgument it) {
        return joint.getFunction().getArgAttr(it.getArgNumber(),
                                              FadDialect::kNodesAttr);
      });
  fusion =
      joint.getFunction()->getAttrOfType<FusionAttr>(FadDialect::kFusesAttr);
  DenseSet<Operation *> dependent(llvm::from_range, joint.getBackward());
  unsigned firstBackward = 0;
  for (Operation &op : block.without_terminator()) {
    addNode(&op, costs);
    Node &node = nodes.back();
    node.isBackward = dependent.contains(&op);
    unsigned number = nodes.size() - 1;
    (node.isBackward ? backward : forward).push_back(number);
    if (node.isBackward && backward.size() == 1)
      firstBackward = number;
    if (!node.isBackward && !node.isInPlace)
      for (unsigned result : node.results)
        forwardBytes += bytes[result];
  }
  for (auto [from, to] : {std::pair(joint.getResults(), &results),
                          std::pair(joint.getGradients(), &gradients),
                          std::pair(joint.getCotangents(), &cotangents)})
    for (Value value : from)
      to->push_back(getNumber(value));
  // Arguments have no buffer of the step, but kernels read them.
  for (BlockArgument argument : block.getArguments())
    if (auto it = numberOf.find(argument); it != numberOf.end()) {
      bytes[it->second] = costs.getBytes(argument).value_or(kUnknownBytes);
      elements[it->second] = costs.getElements(argument);
    }
  if (!backward.empty())
    sortForward(firstBackward);
}

void PeakModel::sortForward(unsigned firstBackward) {
  SmallVector<unsigned> place(nodes.size());
  for (unsigned number : forward) {
    place[number] = number;
    if (number < firstBackward)
      continue;
    place[number] = 0;
    for (unsigned read : nodes[number].reads)
      if (nodeOf[read] >= 0)
        place[number] = std::max(place[number], place[nodeOf[read]]);
  }
  llvm::stable_sort(
      forward, [&](unsigned a, unsigned b) { return place[a] < place[b]; });
}

llvm::BitVector PeakModel::findNeeded(llvm::BitVector wanted) const {
  llvm::BitVector needed(nodes.size());
  for (unsigned number : llvm::reverse(forward)) {
    const Node &node = nodes[number];
    if (llvm::none_of(node.results, [&](unsigned r) { return wanted[r]; }))
      continue;
    needed.set(number);
    for (unsigned read : node.reads)
      wanted.set(read);
  }
  return needed;
}
