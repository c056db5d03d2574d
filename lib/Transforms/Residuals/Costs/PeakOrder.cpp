//===- PeakOrder.cpp - The order in which a compiler runs backward --------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiler makes one kernel of elementwise operations that read each other's
// results, though another kernel, such as a product of matrices, is between
// them in the program. Those behind it that do not need its results then run
// before it, and what they read is not kept until after it. One pass over the
// steps of backward moves them: for each kernel that does not fuse, out of the
// steps between it and the next one.
//
// It also makes one kernel of elementwise operations that read the same
// operands, however many other kernels are between them: of both cotangents of
// a product, for example. A second pass moves the later of them to the earlier.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"

using namespace mlir;
using namespace mlir::fad;

bool PeakModel::Timeline::mayMove(const Step &step) const {
  if (step.copy != inBackward)
    return false;
  const Node &node = model.nodes[step.number];
  return node.fuses || node.isInPlace;
}

bool PeakModel::Timeline::isBarrier(const Step &step) const {
  return step.copy == inBackward && !mayMove(step) &&
         !model.nodes[step.number].isFusedReader;
}

bool PeakModel::Timeline::readsAny(const Step &step,
                                   const llvm::BitVector &copies) const {
  bool found = false;
  forEachRead(model.nodes[step.number], inBackward,
              [&](unsigned used) { found |= copies[used]; });
  return found;
}

void PeakModel::Timeline::addResults(const Step &step,
                                     llvm::BitVector &copies) const {
  // A step that decodes or loads a value has the number of that.
  if (step.copy != inBackward) {
    copies.set(get(step.number, step.copy));
    return;
  }
  for (unsigned result : model.nodes[step.number].results)
    copies.set(get(result, inBackward));
}

llvm::BitVector PeakModel::Timeline::findHoisted(ArrayRef<Step> before,
                                                 const Step &kernel,
                                                 ArrayRef<Step> run) const {
  // Copies that elementwise operations have in memory before the kernel, those
  // that are known only after it, and those that operations read which move.
  llvm::BitVector written(isInMemory.size()), late(written), needed(written);
  for (const Step &step : before)
    if (mayMove(step) && model.nodes[step.number].fuses)
      for (unsigned result : model.nodes[step.number].results)
        if (!inlined[get(result, inBackward)])
          written.set(get(result, inBackward));
  addResults(kernel, late);
  llvm::BitVector hoisted(run.size());
  for (auto [index, step] : llvm::enumerate(run)) {
    if (!mayMove(step) || readsAny(step, late)) {
      addResults(step, late);
    } else if (readsAny(step, written)) {
      addResults(step, written);
      hoisted.set(index);
    }
  }
  // With those that read what is written there, those move that they read.
  for (size_t index = run.size(); index-- > 0;) {
    const Step &step = run[index];
    if (!mayMove(step) || readsAny(step, late))
      continue;
    if (llvm::any_of(model.nodes[step.number].results, [&](unsigned result) {
          return needed[get(result, inBackward)];
        }))
      hoisted.set(index);
    if (hoisted[index])
      forEachRead(model.nodes[step.number], inBackward,
                  [&](unsigned used) { needed.set(used); });
  }
  return hoisted;
}

void PeakModel::Timeline::hoistFused() {
  SmallVector<Step> order(steps.begin(), steps.begin() + numForward);
  ArrayRef<Step> rest = ArrayRef(steps).drop_front(numForward);
  // The steps of `order` since the last kernel begin here.
  size_t first = order.size();
  while (!rest.empty()) {
    Step kernel = rest.front();
    rest = rest.drop_front();
    if (!isBarrier(kernel)) {
      order.push_back(kernel);
      continue;
    }
    ArrayRef<Step> run =
        rest.take_until([&](const Step &step) { return isBarrier(step); });
    rest = rest.drop_front(run.size());
    llvm::BitVector hoisted =
        findHoisted(ArrayRef(order).drop_front(first), kernel, run);
    for (unsigned index : hoisted.set_bits())
      order.push_back(run[index]);
    order.push_back(kernel);
    first = order.size();
    for (auto [index, step] : llvm::enumerate(run))
      if (!hoisted[index])
        order.push_back(step);
  }
  steps = std::move(order);
}

//===----------------------------------------------------------------------===//
// Operations that share operands
//===----------------------------------------------------------------------===//

/// The steps of backward in segments, between which are kernels that fuse with
/// no other: kernel `s` is behind segment `s`, and makes what is ready in
/// segment `s + 1`.
class PeakModel::Timeline::Segments {
public:
  explicit Segments(const Timeline &timeline);

  /// Moves each operation that shares operands with one of an earlier segment.
  void hoist();
  /// The steps in their new order, those of forward among them.
  SmallVector<Step> getOrder() const;

private:
  /// Segments in ascending order.
  using Sorted = SmallVector<unsigned, 2>;

  const Node &getNode(unsigned step) const {
    return timeline.model.nodes[timeline.steps[step].number];
  }
  /// The elements for each of which a step computes something, which are the
  /// same in all operations of a kernel.
  int64_t getElements(unsigned step) const;
  /// Whether a step is elementwise and has a result in memory that no other of
  /// its segment reads alone.
  bool isRoot(unsigned step) const;
  /// Whether a step is a kernel, or its last operation, which reads copies in
  /// memory.
  bool isReader(unsigned step) const;
  /// The segment of a step, or the kernel behind it: twice the segment, and 1
  /// more for the kernel.
  int64_t getPlace(unsigned step) const;
  /// The last place in which any step but `step`, which the pass is at, reads a
  /// copy; -1 if there is none.
  int64_t getLast(unsigned copy, unsigned step) const;
  /// The bytes of a copy's buffer that ends with its last reader.
  Cost::Count getFreeableBytes(unsigned copy) const;
  /// The segment before its own to which a step moves.
  std::optional<unsigned> findSegment(unsigned step) const;
  /// Adds a step, whose segment is final, to the readers of its sources.
  void addReader(unsigned step);
  /// Moves a step to a segment, behind those that compute its operands inline.
  void move(unsigned step, unsigned segment);

  const Timeline &timeline;
  /// The segment of each step; the steps that moved to each segment; the
  /// kernels behind the segments.
  SmallVector<unsigned> segmentOf;
  SmallVector<SmallVector<unsigned>> moved;
  llvm::BitVector hasMoved;
  /// For each copy: the first segment that has it; the step of backward that
  /// makes it, or -1; the last step that reads it in memory, or -1; the last
  /// place of those before the pass, or -1; whether its buffer lasts to the end
  /// of the step.
  SmallVector<unsigned> ready;
  SmallVector<int> makerOf, lastReader;
  SmallVector<int64_t> lastPlace;
  llvm::BitVector isKept;
  /// For each copy and count of elements, the segments of the steps before the
  /// pass that read the copy and fuse with others of as many elements.
  llvm::DenseMap<std::pair<unsigned, int64_t>, Sorted> sharers;
};

PeakModel::Timeline::Segments::Segments(const Timeline &timeline)
    : timeline(timeline), segmentOf(timeline.steps.size()), moved(1),
      hasMoved(timeline.steps.size()), ready(timeline.isInMemory.size()),
      makerOf(timeline.isInMemory.size(), -1), lastReader(makerOf),
      lastPlace(timeline.isInMemory.size(), -1),
      isKept(timeline.isInMemory.size()) {
  const PeakModel &model = timeline.model;
  for (unsigned result : model.results)
    isKept.set(timeline.get(result, inForward));
  for (unsigned gradient : model.gradients)
    isKept.set(timeline.getInBackward(gradient));
  // A view is in the memory of its operand.
  for (auto [number, copy] : llvm::reverse(timeline.steps)) {
    if (copy != inForward && copy != inBackward)
      continue;
    const Node &node = model.nodes[number];
    if (node.isInPlace &&
        llvm::any_of(node.results, [&, copy = copy](unsigned result) {
          return isKept[timeline.get(result, copy)];
        }))
      timeline.forEachRead(node, copy,
                           [&](unsigned used) { isKept.set(used); });
  }
  for (unsigned step = timeline.numForward; step < segmentOf.size(); ++step) {
    auto [number, copy] = timeline.steps[step];
    unsigned segment = segmentOf[step] = moved.size() - 1;
    if (copy != inBackward) {
      makerOf[timeline.get(number, copy)] = step;
      ready[timeline.get(number, copy)] = segment;
      continue;
    }
    if (timeline.isBarrier(timeline.steps[step]))
      moved.emplace_back();
    for (unsigned result : getNode(step).results) {
      makerOf[timeline.get(result, inBackward)] = step;
      ready[timeline.get(result, inBackward)] = moved.size() - 1;
    }
    if (isReader(step))
      timeline.forEachSource(getNode(step), copy,
                             [&](unsigned used) { lastReader[used] = step; });
  }
}

bool PeakModel::Timeline::Segments::isReader(unsigned step) const {
  if (timeline.steps[step].copy != inBackward)
    return false;
  return timeline.isBarrier(timeline.steps[step]) ||
         llvm::any_of(getNode(step).results, [&](unsigned result) {
           return !timeline.inlined[timeline.get(result, inBackward)];
         });
}

int64_t PeakModel::Timeline::Segments::getPlace(unsigned step) const {
  return 2 * int64_t(segmentOf[step]) +
         timeline.isBarrier(timeline.steps[step]);
}

int64_t PeakModel::Timeline::Segments::getElements(unsigned step) const {
  const PeakModel &model = timeline.model;
  int64_t elements = 0;
  for (unsigned result : getNode(step).results)
    elements = std::max(elements, model.elements[result]);
  if (!getNode(step).fuses)
    for (unsigned read : getNode(step).reads)
      elements = std::max(elements, model.elements[read]);
  return elements;
}

bool PeakModel::Timeline::Segments::isRoot(unsigned step) const {
  if (timeline.steps[step].copy != inBackward || !getNode(step).fuses)
    return false;
  return llvm::all_of(getNode(step).results, [&](unsigned result) {
    unsigned copy = timeline.get(result, inBackward);
    return !timeline.inlined[copy] &&
           (timeline.isInMemory[copy] ||
            getLast(copy, step) > 2 * int64_t(segmentOf[step]));
  });
}

int64_t PeakModel::Timeline::Segments::getLast(unsigned copy,
                                               unsigned step) const {
  // The pass has not moved a later reader, which is behind all others.
  if (lastReader[copy] > int(step))
    return getPlace(lastReader[copy]);
  return lastPlace[copy];
}

Cost::Count
PeakModel::Timeline::Segments::getFreeableBytes(unsigned copy) const {
  const PeakModel &model = timeline.model;
  unsigned value = copy % model.values.size();
  if (isKept[copy] ||
      (model.nodeOf[value] < 0 && !llvm::is_contained(model.cotangents, value)))
    return 0;
  return copy == timeline.get(value, encoded) ? model.savedBytes[value]
                                              : model.bytes[value];
}

std::optional<unsigned>
PeakModel::Timeline::Segments::findSegment(unsigned step) const {
  const PeakModel &model = timeline.model;
  unsigned own = segmentOf[step], first = 0;
  int64_t elements = getElements(step);
  Cost::Count made = 0, freed = 0;
  for (unsigned result : getNode(step).results)
    made += model.bytes[result];
  // The segments whose kernels read what the step reads, and how many bytes.
  SmallVector<std::pair<ArrayRef<unsigned>, Cost::Count>> shared;
  llvm::SmallDenseSet<unsigned> sources;
  timeline.forEachSource(getNode(step), inBackward, [&](unsigned used) {
    if (!sources.insert(used).second)
      return;
    first = std::max(first, ready[used]);
    if (getLast(used, step) < 2 * int64_t(own))
      freed += getFreeableBytes(used);
    // Operations read other parts of a larger operand, which they do not share.
    unsigned value = used % model.values.size();
    if (model.elements[value] > elements)
      return;
    if (auto it = sharers.find({used, elements}); it != sharers.end())
      shared.emplace_back(it->second, model.bytes[value]);
  });
  if (made > freed)
    return std::nullopt;
  // Of the longest list, which all kernels may be in that read an argument, the
  // last segment alone is better than those that are in no other list.
  for (auto &list : shared) {
    ArrayRef<unsigned> &segments = list.first;
    segments = segments.drop_front(llvm::lower_bound(segments, first) -
                                   segments.begin());
    segments = segments.take_front(llvm::lower_bound(segments, own) -
                                   segments.begin());
  }
  llvm::erase_if(shared, [](auto &list) { return list.first.empty(); });
  if (shared.empty())
    return std::nullopt;
  auto longest = llvm::max_element(
      shared, [](auto &a, auto &b) { return a.first.size() < b.first.size(); });
  llvm::SmallDenseMap<unsigned, Cost::Count> bytesOf = {
      {longest->first.back(), 0}};
  for (auto it = shared.begin(); it != shared.end(); ++it)
    if (it != longest)
      for (unsigned segment : it->first)
        bytesOf[segment] += it->second;
  std::optional<std::pair<Cost::Count, unsigned>> best;
  for (auto [segment, bytes] : bytesOf) {
    if (llvm::binary_search(longest->first, segment))
      bytes += longest->second;
    if (!best || std::pair(bytes, segment) > *best)
      best = {bytes, segment};
  }
  return best->second;
}

void PeakModel::Timeline::Segments::addReader(unsigned step) {
  bool isBarrier = timeline.isBarrier(timeline.steps[step]);
  unsigned segment = segmentOf[step];
  timeline.forEachSource(getNode(step), inBackward, [&](unsigned used) {
    lastPlace[used] = std::max(lastPlace[used], getPlace(step));
    if (isBarrier)
      return;
    Sorted &segments = sharers[{used, getElements(step)}];
    auto it = llvm::lower_bound(segments, segment);
    if (it == segments.end() || *it != segment)
      segments.insert(it, segment);
  });
}

void PeakModel::Timeline::Segments::move(unsigned step, unsigned segment) {
  if (timeline.steps[step].copy == inBackward)
    timeline.forEachRead(getNode(step), inBackward, [&](unsigned used) {
      if (makerOf[used] >= 0 && segmentOf[makerOf[used]] > segment)
        move(makerOf[used], segment);
    });
  segmentOf[step] = segment;
  moved[segment].push_back(step);
  hasMoved.set(step);
  if (timeline.steps[step].copy == inBackward)
    for (unsigned result : getNode(step).results)
      ready[timeline.get(result, inBackward)] = segment;
}

void PeakModel::Timeline::Segments::hoist() {
  for (unsigned step = timeline.numForward; step < segmentOf.size(); ++step) {
    if (isRoot(step))
      if (std::optional<unsigned> segment = findSegment(step))
        move(step, *segment);
    if (isReader(step))
      addReader(step);
  }
}

SmallVector<PeakModel::Timeline::Step>
PeakModel::Timeline::Segments::getOrder() const {
  ArrayRef<Step> steps = timeline.steps;
  SmallVector<Step> order(steps.take_front(timeline.numForward));
  unsigned current = 0;
  auto addMoved = [&] {
    for (unsigned step : moved[current])
      // Operations that are computed inline may have moved further since.
      if (segmentOf[step] == current)
        order.push_back(steps[step]);
  };
  for (unsigned step = timeline.numForward; step < steps.size(); ++step) {
    if (timeline.isBarrier(steps[step])) {
      addMoved();
      ++current;
    }
    if (!hasMoved[step])
      order.push_back(steps[step]);
  }
  addMoved();
  return order;
}

void PeakModel::Timeline::hoistSharing() {
  Segments segments(*this);
  segments.hoist();
  steps = segments.getOrder();
}
