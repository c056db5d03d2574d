//===- PeakModel.cpp - Memory of a step under a selection -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PeakModel.h"
#include "CostModel.h"
#include "Recomputation.h"
#include "fad/Analysis/Movement.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// The joint function by numbers
//===----------------------------------------------------------------------===//

/// A function whose framework fuses elementwise operations, or an operation that
/// fuses there besides those; and one that may write its result over an operand.
static constexpr StringLiteral kFusesAttr = "fad.fuses";
static constexpr StringLiteral kOverwritesAttr = "fad.overwrites";

/// The bytes that the kernel of an operation takes while it runs.
static constexpr StringLiteral kScratchAttr = "fad.scratch";

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
  return op->hasAttr(kFusesAttr) || isElementwise(op);
}

/// The bytes of temporary tensors while a framework executes the scalar
/// operations of `op` one by one on tensors.
static Cost::Count getTemporaryBytes(Operation *op, Cost::Count numElements) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return 0;
  Block &body = op->getRegion(0).front();
  Cost::Count live = 0, most = 0;
  llvm::SmallDenseMap<Value, unsigned> uses;
  auto getBytes = [&](Value scalar) -> Cost::Count {
    return numElements * getScalarBytes(scalar.getType()).value_or(0);
  };
  for (Operation &inner : body.without_terminator()) {
    if (matchPattern(&inner, m_Constant()))
      continue;
    for (Value result : inner.getResults()) {
      uses[result] = llvm::range_size(result.getUses());
      live += getBytes(result);
    }
    most = std::max(most, live);
    for (Value operand : inner.getOperands())
      if (auto it = uses.find(operand); it != uses.end() && --it->second == 0)
        live -= getBytes(operand);
  }
  // What is left are the results, which count anyway.
  return most - live;
}

unsigned PeakModel::getNumber(Value value) {
  auto [it, isNew] = numberOf.try_emplace(value, values.size());
  if (isNew) {
    values.push_back(value);
    nodeOf.push_back(-1);
    bytes.push_back(0);
    savedBytes.push_back(0);
    elements.push_back(0);
  }
  return it->second;
}

void PeakModel::addNode(Operation *op, CostModel &costs) {
  Node node{op};
  forEachReadOperand(op, [&](Value operand) {
    if (isa<TensorType>(operand.getType()))
      node.reads.push_back(getNumber(operand));
  });
  node.isInPlace = isInPlace(op);
  for (Value result : op->getResults()) {
    unsigned number = getNumber(result);
    node.results.push_back(number);
    nodeOf[number] = nodes.size();
    bytes[number] = costs.getBytes(result).value_or(kUnknownBytes);
    elements[number] = costs.getElements(result);
    Cost cost = costs.getSaveCost(result);
    savedBytes[number] = cost.isInfinite ? 0 : saturate(cost.bytes);
  }
  if (auto scratch = op->getAttrOfType<IntegerAttr>(kScratchAttr))
    node.temporaryBytes = scratch.getInt();
  if (isFused) {
    node.fuses = !node.isInPlace && fusesWithReaders(op);
    node.isFusedReader = node.fuses || isReduction(op);
    node.overwrites = node.fuses || op->hasAttr(kOverwritesAttr);
  } else if (isExecutedByOthers && !op->hasAttr(FadDialect::kNodesAttr) &&
             op->getNumResults() != 0)
    node.temporaryBytes =
        getTemporaryBytes(op, costs.getElements(op->getResult(0)));
  nodes.push_back(std::move(node));
}

PeakModel::PeakModel(const JointFunction &joint, CostModel &costs) {
  Block &block = joint.getFunction().front();
  isExecutedByOthers =
      llvm::any_of(block.getArguments(), [&](BlockArgument it) {
        return joint.getFunction().getArgAttr(it.getArgNumber(),
                                              FadDialect::kNodesAttr);
      });
  isFused = joint.getFunction()->hasAttr(kFusesAttr);
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
  for (unsigned cotangent : cotangents)
    bytes[cotangent] =
        costs.getBytes(values[cotangent]).value_or(kUnknownBytes);
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

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// The steps of forward and backward under one selection. A value has up to
/// four copies: that of forward, that of backward, that which is saved in
/// another encoding, and that which backward decodes from it.
class PeakModel::Timeline {
public:
  Timeline(const PeakModel &model, const llvm::DenseSet<Value> &saved);

  Cost::Count getPeak();
  /// The values that live at the ends of the segments of forward. A segment has
  /// buffers of about `bytes`.
  llvm::DenseSet<Value> divide(int64_t bytes);

private:
  enum Copy { inForward, inBackward, encoded, decoded, numCopies };
  struct Step {
    /// The number of a node; if `copy` is `decoded`, that of a value.
    unsigned number;
    Copy copy;
  };

  unsigned get(unsigned value, Copy copy) const {
    return copy * model.values.size() + value;
  }
  bool isEncoded(unsigned value) const {
    return saved[value] && model.savedBytes[value] != 0 &&
           model.savedBytes[value] < model.bytes[value];
  }
  /// The copy of `value` that a step of backward reads.
  unsigned getInBackward(unsigned value) const;
  /// Whether backward has `value` without computing it.
  bool isGiven(unsigned value) const;
  void addBackward(unsigned node);
  void findLastReads();
  /// Whether `copy` is computed where it is read. All steps after `time`, which
  /// computes it, are known.
  bool isFused(unsigned copy, unsigned time) const;
  /// What encoding or decoding `value` needs while it runs.
  Cost::Count getCodeBytes(unsigned value, Copy copy) const;

  const PeakModel &model;
  llvm::BitVector saved, executed, isDecoded;
  SmallVector<Step> steps;
  unsigned numForward = 0;
  /// For each copy, the last step that reads it, and whether a kernel reads it
  /// that needs it in memory.
  SmallVector<unsigned> last;
  llvm::BitVector isInMemory;
  /// The steps whose results have no buffer, and for each step, the number of
  /// kernels before it that do not fuse.
  llvm::BitVector isFusedStep;
  SmallVector<unsigned> numKernels;
};

PeakModel::Timeline::Timeline(const PeakModel &model,
                              const llvm::DenseSet<Value> &selected)
    : model(model), saved(model.values.size()), executed(model.nodes.size()),
      isDecoded(model.values.size()) {
  llvm::BitVector wanted(model.values.size());
  for (Value value : selected)
    if (auto it = model.numberOf.find(value); it != model.numberOf.end())
      saved.set(it->second);
  wanted = saved;
  for (unsigned result : model.results)
    wanted.set(result);
  llvm::BitVector needed = model.findNeeded(wanted);
  for (unsigned node : model.forward)
    if (needed[node])
      steps.push_back({node, inForward});
  numForward = steps.size();
  for (unsigned node : model.backward)
    addBackward(node);
  for (unsigned gradient : model.gradients)
    if (!isGiven(gradient) && !executed[model.nodeOf[gradient]])
      addBackward(model.nodeOf[gradient]);
}

bool PeakModel::Timeline::isGiven(unsigned value) const {
  return model.nodeOf[value] < 0 || saved[value];
}

void PeakModel::Timeline::addBackward(unsigned first) {
  SmallVector<unsigned> stack = {first};
  while (!stack.empty()) {
    unsigned number = stack.back();
    size_t size = stack.size();
    for (unsigned read : model.nodes[number].reads)
      if (!isGiven(read) && !executed[model.nodeOf[read]])
        stack.push_back(model.nodeOf[read]);
    if (stack.size() != size) {
      std::reverse(stack.begin() + size, stack.end());
      continue;
    }
    stack.pop_back();
    if (executed.test(number))
      continue;
    executed.set(number);
    for (unsigned read : model.nodes[number].reads)
      if (isEncoded(read) && !isDecoded.test(read)) {
        isDecoded.set(read);
        steps.push_back({read, decoded});
      }
    steps.push_back({number, inBackward});
  }
}

unsigned PeakModel::Timeline::getInBackward(unsigned value) const {
  if (!isGiven(value))
    return get(value, inBackward);
  return get(value, isEncoded(value) ? decoded : inForward);
}

bool PeakModel::Timeline::isFused(unsigned copy, unsigned time) const {
  unsigned until = last[copy];
  bool crosses = time < numForward && until >= numForward;
  return !isInMemory[copy] && !crosses && until > time &&
         numKernels[until] == numKernels[time + 1];
}

void PeakModel::Timeline::findLastReads() {
  last.assign(numCopies * model.values.size(), 0);
  isInMemory.resize(last.size());
  unsigned end = steps.size();
  isFusedStep.resize(end);
  numKernels.assign(end + 1, 0);
  for (unsigned time = 0; time < end; ++time) {
    auto [number, copy] = steps[time];
    const Node *node = copy == decoded ? nullptr : &model.nodes[number];
    bool isKernel = node && !node->fuses && !node->isInPlace;
    numKernels[time + 1] = numKernels[time] + isKernel;
  }
  auto keep = [&](unsigned copy) {
    last[copy] = end;
    isInMemory.set(copy);
  };
  for (unsigned result : model.results)
    keep(get(result, inForward));
  for (unsigned gradient : model.gradients)
    keep(getInBackward(gradient));
  for (unsigned time = end; time-- > 0;) {
    auto [number, copy] = steps[time];
    unsigned until = time;
    if (copy == decoded) {
      if (model.isFused && isFused(get(number, decoded), time)) {
        isFusedStep.set(time);
        until = last[get(number, decoded)];
      }
      last[get(number, encoded)] = until;
      continue;
    }
    const Node &node = model.nodes[number];
    bool needsMemory = !node.isFusedReader && !node.isInPlace;
    if (node.fuses && llvm::all_of(node.results, [&](unsigned result) {
          return isFused(get(result, copy), time);
        }))
      isFusedStep.set(time);
    if (node.isInPlace || isFusedStep[time])
      for (unsigned result : node.results) {
        until = std::max(until, last[get(result, copy)]);
        needsMemory |= isInMemory[get(result, copy)];
      }
    for (unsigned read : node.reads) {
      unsigned used =
          copy == inForward ? get(read, inForward) : getInBackward(read);
      last[used] = std::max(last[used], until);
      if (needsMemory)
        isInMemory.set(used);
    }
  }
}

Cost::Count PeakModel::Timeline::getCodeBytes(unsigned value, Copy copy) const {
  if (!model.isExecutedByOthers || model.isFused)
    return 0;
  Cost::Count elements = model.elements[value];
  // Codes have 32 bits in two operations at a time; bits of a mask have them in
  // eight parts one by one.
  bool isMask = model.bytes[value] == model.elements[value];
  return copy == inForward && isMask ? 2 * elements : 8 * elements;
}

Cost::Count PeakModel::Timeline::getPeak() {
  findLastReads();
  SmallVector<Cost::Count> freed(steps.size() + 1);
  // The largest of the buffers that are freed after each step.
  SmallVector<int64_t> largest(steps.size() + 1);
  Cost::Count live = 0, peak = 0;
  auto allocate = [&](unsigned number, int64_t size, unsigned time) {
    live += size;
    unsigned until = std::max(time, last[number]);
    freed[until] += size;
    largest[until] = std::max(largest[until], size);
  };
  for (unsigned time = 0; time <= steps.size(); ++time) {
    if (time == numForward)
      for (unsigned cotangent : model.cotangents)
        allocate(get(cotangent, inForward), model.bytes[cotangent], time);
    peak = std::max(peak, live);
    if (time == steps.size())
      break;
    auto [number, copy] = steps[time];
    if (copy == decoded) {
      if (!isFusedStep[time])
        allocate(get(number, decoded), model.bytes[number], time);
      peak = std::max(peak, live + getCodeBytes(number, copy));
      live -= freed[time];
      continue;
    }
    const Node &node = model.nodes[number];
    Cost::Count temporary = node.temporaryBytes;
    int64_t reusable = node.overwrites ? largest[time] : 0;
    for (unsigned result : node.results) {
      if (copy == inForward && isEncoded(result)) {
        allocate(get(result, encoded), model.savedBytes[result], time);
        temporary = std::max(temporary, getCodeBytes(result, copy));
      }
      if (node.isInPlace || isFusedStep[time])
        continue;
      int64_t size = model.bytes[result];
      // The operand's memory is the result's from here on.
      if (size == reusable) {
        live -= size;
        freed[time] -= size;
        reusable = 0;
      }
      allocate(get(result, copy), size, time);
    }
    peak = std::max(peak, live + temporary);
    live -= freed[time];
  }
  return peak;
}

int64_t PeakModel::getPeak(const llvm::DenseSet<Value> &saved) const {
  return saturate(Timeline(*this, saved).getPeak());
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

llvm::DenseSet<Value> PeakModel::Timeline::divide(int64_t segment) {
  findLastReads();
  // What lives after each step besides results, and what the step adds.
  SmallVector<Cost::Count> added(numForward), live(numForward + 1);
  auto forEachBuffer = [&](unsigned time,
                           llvm::function_ref<void(unsigned, unsigned)> visit) {
    const Node &node = model.nodes[steps[time].number];
    for (unsigned result : node.results) {
      unsigned until = last[get(result, inForward)];
      if (!node.isInPlace && until < steps.size())
        visit(result, std::min(std::max(until, time), numForward));
    }
  };
  for (unsigned time = 0; time < numForward; ++time)
    forEachBuffer(time, [&](unsigned value, unsigned until) {
      added[time] += model.bytes[value];
      live[time] += model.bytes[value];
      live[until] -= model.bytes[value];
    });
  for (unsigned time = 1; time < numForward; ++time)
    live[time] += live[time - 1];

  SmallVector<unsigned> ends;
  Cost::Count sum = 0;
  unsigned best = 0;
  bool hasBest = false;
  for (unsigned time = 0; time < numForward; ++time) {
    sum += added[time];
    if (2 * sum < segment)
      continue;
    if (!hasBest || live[time] <= live[best])
      best = time;
    hasBest = true;
    if (sum < segment)
      continue;
    ends.push_back(best);
    time = best;
    sum = 0;
    hasBest = false;
  }

  llvm::DenseSet<Value> values;
  for (unsigned time = 0; time < numForward; ++time)
    forEachBuffer(time, [&](unsigned value, unsigned until) {
      auto end = llvm::lower_bound(ends, time);
      if (end != ends.end() && *end < until)
        values.insert(model.values[value]);
    });
  return values;
}

llvm::DenseSet<Value> PeakModel::divide(int64_t segment) const {
  return Timeline(*this, {}).divide(segment);
}
