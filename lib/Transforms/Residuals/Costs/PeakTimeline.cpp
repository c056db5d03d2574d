//===- PeakTimeline.cpp - Steps under a selection -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists the steps of forward and backward under one selection, a value that is
// neither saved nor given being computed right before its first reader. A pass
// from the last step to the first finds the last reader of each copy of a
// value; a copy that the compiler fuses into its readers has no buffer, and its
// operands live on to them. `LiveBytes` adds up the buffers. Segments for
// checkpoints end where the fewest bytes are live, about every so many bytes of
// buffers.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"
#include "fad/Analysis/LiveBytes.h"

using namespace mlir;
using namespace mlir::fad;

PeakModel::Timeline::Timeline(const PeakModel &model,
                              const llvm::DenseSet<Value> &selected,
                              const llvm::DenseSet<Value> &moved)
    : model(model), saved(model.values.size()), onHost(model.values.size()),
      executed(model.nodes.size()), isRestored(model.values.size()) {
  llvm::BitVector wanted(model.values.size());
  for (Value value : selected)
    if (auto it = model.numberOf.find(value); it != model.numberOf.end()) {
      saved.set(it->second);
      // Arguments stay where they are.
      if (moved.contains(value) && model.nodeOf[it->second] >= 0)
        onHost.set(it->second);
    }
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
    for (unsigned read : model.nodes[number].reads) {
      if ((!isEncoded(read) && !onHost[read]) || isRestored.test(read))
        continue;
      isRestored.set(read);
      steps.push_back({read, onHost[read] ? loaded : decoded});
    }
    steps.push_back({number, inBackward});
  }
}

unsigned PeakModel::Timeline::getInBackward(unsigned value) const {
  if (!isGiven(value))
    return get(value, inBackward);
  if (onHost[value])
    return get(value, loaded);
  return get(value, isEncoded(value) ? decoded : inForward);
}

//===----------------------------------------------------------------------===//
// Values without a buffer
//===----------------------------------------------------------------------===//

void PeakModel::Timeline::forEachRead(
    const Node &node, Copy copy,
    llvm::function_ref<void(unsigned)> visit) const {
  for (unsigned read : node.reads)
    visit(copy == inForward ? get(read, inForward) : getInBackward(read));
}

const PeakModel::Timeline::Computation *
PeakModel::Timeline::getFirst(const Node &node, Copy copy) const {
  if (!node.copiesFirst)
    return nullptr;
  unsigned first = node.reads.front();
  first = copy == inForward ? get(first, inForward) : getInBackward(first);
  return inlined[first] ? &*inlined[first] : nullptr;
}

void PeakModel::Timeline::findReaders() {
  isInMemory.clear();
  isInMemory.resize(numCopies * model.values.size());
  isShared = isBroadcast = isSummed = isInMemory;
  llvm::BitVector isRead = isInMemory;
  for (unsigned result : model.results)
    isInMemory.set(get(result, inForward));
  for (unsigned gradient : model.gradients)
    isInMemory.set(getInBackward(gradient));
  for (unsigned value : saved.set_bits())
    if (!isEncoded(value))
      isInMemory.set(get(value, inForward));
  for (unsigned value : onHost.set_bits())
    isInMemory.set(get(value, loaded));
  for (auto [number, copy] : llvm::reverse(steps)) {
    if (copy == decoded || copy == loaded)
      continue;
    const Node &node = model.nodes[number];
    bool needsMemory =
        node.materializes || (!node.isFusedReader && !node.isInPlace);
    // Sums of forward are one kernel each.
    bool shares = false, isSplit = node.isSplit && copy == inBackward;
    // A reader of a view reads its operand.
    if (node.isInPlace)
      for (unsigned result : node.results) {
        needsMemory |= isInMemory[get(result, copy)];
        shares |= isShared[get(result, copy)];
        isSplit |= isSummed[get(result, copy)];
      }
    Cost::Count elements = 0;
    for (unsigned result : node.results)
      elements = std::max<Cost::Count>(elements, model.elements[result]);
    forEachRead(node, copy, [&](unsigned used) {
      bool isCopied =
          node.copiesFirst && used % model.values.size() == node.reads.front();
      if (needsMemory && !isCopied)
        isInMemory.set(used);
      if (elements > model.elements[used % model.values.size()])
        isBroadcast.set(used);
      if (shares || isRead[used])
        isShared.set(used);
      if (isSplit)
        isSummed.set(used);
      isRead.set(used);
    });
  }
}

void PeakModel::Timeline::findInlined() {
  FusionAttr limits = model.fusion;
  isInlined.clear();
  isInlined.resize(isInMemory.size());
  inlined.assign(isInMemory.size(), std::nullopt);
  // For each copy and node, the last computation that has it, by number from 1.
  SmallVector<unsigned> readIn(isInMemory.size()),
      executedIn(model.nodes.size());
  unsigned current = 0;
  auto addNode = [&](Computation &sum, unsigned number) {
    int64_t operations = model.nodes[number].numOperations;
    if (!operations || std::exchange(executedIn[number], current) == current)
      return;
    sum.nodes.push_back(number);
    sum.numOperations += operations;
  };
  auto add = [&](Computation &sum, unsigned used) {
    auto addRead = [&](unsigned read) {
      if (std::exchange(readIn[read], current) == current)
        return;
      sum.reads.push_back(read);
      ++sum.numOperations;
      // A kernel reads codes to decode them.
      unsigned value = read % model.values.size();
      if (read == get(value, encoded))
        sum.numOperations += model.decoding[value];
    };
    if (!inlined[used])
      return addRead(used);
    llvm::for_each(inlined[used]->reads, addRead);
    for (unsigned number : inlined[used]->nodes)
      addNode(sum, number);
    sum.isShared &= inlined[used]->isShared;
  };
  auto mayInline = [&](const Computation &computation, unsigned copy) {
    int64_t numReads = computation.reads.size();
    if (isInMemory[copy] || numReads > limits.getReads() ||
        computation.numOperations > limits.getOperations())
      return false;
    // An element of a broadcast value would be computed many times, too.
    bool isRepeated = isShared[copy] || isBroadcast[copy];
    if (computation.numOperations > limits.getSharedOperations() &&
        (isRepeated || numReads > 1))
      return false;
    if (isRepeated && !computation.isShared)
      return false;
    return !isShared[copy] || numReads <= limits.getSharedReads();
  };
  for (auto [number, copy] : steps) {
    if (copy == decoded) {
      if (unsigned value = get(number, decoded); !isInMemory[value]) {
        inlined[value] = Computation{{get(number, encoded)}};
        isInlined.set(value);
      }
      continue;
    }
    if (copy == loaded)
      continue;
    const Node &node = model.nodes[number];
    if (!node.fuses && !node.isInPlace)
      continue;
    ++current;
    Computation computation;
    addNode(computation, number);
    computation.isShared = node.isShared;
    forEachRead(node, copy, [&](unsigned used) { add(computation, used); });
    for (unsigned result : node.results) {
      unsigned value = get(result, copy);
      // A view is where its operand is.
      if (!node.isInPlace && !mayInline(computation, value))
        continue;
      inlined[value] = computation;
      isInlined[value] = node.fuses;
    }
  }
}

void PeakModel::Timeline::findFusion() {
  findReaders();
  findInlined();
}

void PeakModel::Timeline::forEachSource(
    const Node &node, Copy copy,
    llvm::function_ref<void(unsigned)> visit) const {
  forEachRead(node, copy, [&](unsigned used) {
    if (inlined[used])
      llvm::for_each(inlined[used]->reads, visit);
    else
      visit(used);
  });
}

bool PeakModel::Timeline::isTogether(unsigned time, unsigned until) const {
  if (sortedKernel.empty() || time < numForward)
    return numKernels[until] == numKernels[time + 1];
  return until < steps.size() && sortedKernel[until] == sortedKernel[time];
}

bool PeakModel::Timeline::isFused(unsigned copy, unsigned time) const {
  unsigned until = last[copy];
  return !isInMemory[copy] && until > time &&
         (isInlined[copy] || isTogether(time, until));
}

void PeakModel::Timeline::findLastReads() {
  last.assign(numCopies * model.values.size(), 0);
  unsigned end = steps.size();
  isFusedStep.clear();
  isFusedStep.resize(end);
  numKernels.assign(end + 1, 0);
  for (unsigned time = 0; time < end; ++time) {
    auto [number, copy] = steps[time];
    bool isNode = copy != decoded && copy != loaded;
    const Node *node = isNode ? &model.nodes[number] : nullptr;
    bool isKernel = node && !node->fuses && !node->isInPlace;
    numKernels[time + 1] = numKernels[time] + isKernel;
  }
  for (unsigned result : model.results)
    last[get(result, inForward)] = end;
  for (unsigned gradient : model.gradients)
    last[getInBackward(gradient)] = end;
  for (unsigned time = end; time-- > 0;) {
    unsigned number = steps[time].number;
    Copy copy = steps[time].copy;
    unsigned until = time;
    if (copy == loaded)
      continue;
    if (copy == decoded) {
      if (model.fusion && isFused(get(number, decoded), time)) {
        isFusedStep.set(time);
        until = last[get(number, decoded)];
      }
      last[get(number, encoded)] = until;
      continue;
    }
    const Node &node = model.nodes[number];
    if (node.fuses && llvm::all_of(node.results, [&](unsigned result) {
          return isFused(get(result, copy), time);
        }))
      isFusedStep.set(time);
    if (node.isInPlace || isFusedStep[time])
      for (unsigned result : node.results)
        until = std::max(until, last[get(result, copy)]);
    forEachRead(node, copy, [&](unsigned used) {
      last[used] = std::max(last[used], until);
    });
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Cost::Count PeakModel::Timeline::getCodeBytes(unsigned value, Copy copy) const {
  if (!model.isExecutedByOthers || model.fusion)
    return 0;
  Cost::Count elements = model.elements[value];
  // Codes have 32 bits in two operations at a time; bits of a mask have them in
  // eight parts one by one.
  bool isMask = model.bytes[value] == model.elements[value];
  return copy == inForward && isMask ? 2 * elements : 8 * elements;
}

Cost::Count PeakModel::Timeline::getPeak() {
  // Without fusion, each result has a buffer.
  if (model.fusion) {
    findFusion();
    delayFused();
    hoistFused();
    hoistSharing();
  }
  findLastReads();
  findKernels();
  if (model.fusion && reorderKernels()) {
    findLastReads();
    findKernels();
  }
  // After the last step, the results are in memory.
  LiveBytes live(steps.size() + 1);
  auto allocate = [&](unsigned number, int64_t size, unsigned time,
                      unsigned begin) {
    unsigned until = std::max(time, last[number]);
    // The link takes it during the next step.
    if (number < onHost.size() && onHost[number] && until < steps.size())
      ++until;
    live.add(size, kernelOf[begin].first, kernelOf[until].second);
    if (number >= isHeld.size() || !isHeld[number])
      reusable[until] = std::max(reusable[until], size);
  };
  for (unsigned cotangent : model.cotangents)
    allocate(get(cotangent, inForward), model.bytes[cotangent], numForward,
             numForward);
  for (auto [time, step] : llvm::enumerate(steps)) {
    auto [number, copy] = step;
    if (copy == decoded) {
      if (!isFusedStep[time])
        allocate(get(number, decoded), model.bytes[number], time, time);
      live.add(getCodeBytes(number, copy), time, time);
      continue;
    }
    if (copy == loaded) {
      unsigned before = std::max(time, 1ul) - 1;
      allocate(get(number, loaded), model.bytes[number], before, before);
      continue;
    }
    const Node &node = model.nodes[number];
    Cost::Count temporary = node.temporaryBytes;
    int64_t free =
        node.overwrites && !getFirst(node, copy) ? reusable[time] : 0;
    for (unsigned result : node.results) {
      if (copy == inForward && isEncoded(result)) {
        allocate(get(result, encoded), model.savedBytes[result], time, time);
        temporary = std::max(temporary, getCodeBytes(result, copy));
      }
      if (node.isInPlace || isFusedStep[time])
        continue;
      int64_t size = model.bytes[result];
      // The operand's memory is the result's from here on.
      if (size == free) {
        live.add(-size, kernelOf[time].first, kernelOf[time].second);
        free = 0;
      }
      auto begin = beginOf.find(time);
      allocate(get(result, copy), size, time,
               begin == beginOf.end() ? time : begin->second);
    }
    live.add(temporary, time, time);
  }
  return live.getPeak().bytes;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

llvm::DenseSet<Value> PeakModel::Timeline::divide(int64_t segment) {
  if (model.fusion)
    findFusion();
  findLastReads();
  // Bytes that live after each step besides results, and those it adds.
  SmallVector<Cost::Count> added(numForward);
  LiveBytes buffers(numForward);
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
      if (until > time)
        buffers.add(model.bytes[value], time, until - 1);
    });
  SmallVector<Cost::Count> live = buffers.get();

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

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

int64_t PeakModel::getPeak(const llvm::DenseSet<Value> &saved,
                           const llvm::DenseSet<Value> &onHost) const {
  return saturate(Timeline(*this, saved, onHost).getPeak());
}

StepTime PeakModel::getTime(const llvm::DenseSet<Value> &saved,
                            const llvm::DenseSet<Value> &onHost) const {
  return Timeline(*this, saved, onHost).getTime();
}

llvm::DenseSet<Value> PeakModel::divide(int64_t segment) const {
  return Timeline(*this, {}).divide(segment);
}
