//===- PeakSharing.cpp - Operations that share operands -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiler makes one kernel of elementwise operations of backward that read
// the same operands, however many other kernels are between them: of both
// cotangents of a product, for example. One pass over the steps of backward
// moves the later of them to the earlier, and those of a kernel further
// together.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakSegments.h"

using namespace mlir;
using namespace mlir::fad;

PeakModel::Timeline::Segments::Segments(const Timeline &timeline)
    : timeline(timeline), segmentOf(timeline.steps.size()), moved(1),
      hasMoved(timeline.steps.size()), ready(timeline.isInMemory.size()),
      makerOf(timeline.isInMemory.size(), -1), lastReader(makerOf),
      places(timeline.isInMemory.size()), isKept(timeline.isInMemory.size()) {
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
  int64_t elements = timeline.getElements(getNode(step));
  if (!getNode(step).fuses)
    for (unsigned read : getNode(step).reads)
      elements = std::max(elements, timeline.model.elements[read]);
  return elements;
}

bool PeakModel::Timeline::Segments::isRoot(unsigned step) const {
  if (timeline.steps[step].copy != inBackward || !getNode(step).fuses)
    return false;
  return llvm::all_of(getNode(step).results, [&](unsigned result) {
    unsigned copy = timeline.get(result, inBackward);
    return !timeline.inlined[copy] &&
           (timeline.isInMemory[copy] ||
            getLast(copy) > 2 * int64_t(segmentOf[step]));
  });
}

int64_t PeakModel::Timeline::Segments::getLast(unsigned copy,
                                               const Group &group) const {
  // The pass has not moved a later reader, which is behind all others.
  if (lastReader[copy] > int(current))
    return getPlace(lastReader[copy]);
  for (auto [place, step] : llvm::reverse(places[copy]))
    if (!group.contains(step))
      return place;
  return -1;
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

SmallVector<unsigned>
PeakModel::Timeline::Segments::getSources(unsigned step) const {
  SmallVector<unsigned> sources = timeline.getSources(timeline.steps[step]);
  llvm::sort(sources);
  sources.erase(llvm::unique(sources), sources.end());
  return sources;
}

SmallVector<unsigned>
PeakModel::Timeline::Segments::getSources(const Group &group) const {
  llvm::SmallSetVector<unsigned, 8> sources;
  for (unsigned step : group)
    for (unsigned used : getSources(step))
      if (makerOf[used] < 0 || !group.contains(makerOf[used]))
        sources.insert(used);
  return sources.takeVector();
}

bool PeakModel::Timeline::Segments::addsBytes(
    ArrayRef<unsigned> steps, ArrayRef<unsigned> sources,
    llvm::function_ref<bool(unsigned)> isLast) const {
  Cost::Count made = 0, freed = 0;
  for (unsigned step : steps)
    for (unsigned result : getNode(step).results)
      made += timeline.model.bytes[result];
  for (unsigned used : sources)
    if (isLast(used))
      freed += getFreeableBytes(used);
  return made > freed;
}

std::optional<unsigned>
PeakModel::Timeline::Segments::findSegment(const Group &group) const {
  const PeakModel &model = timeline.model;
  unsigned own = segmentOf[group.front()], first = 0;
  int64_t elements = getElements(group.front());
  SmallVector<unsigned> sources = getSources(group);
  if (addsBytes(group.getArrayRef(), sources, [&](unsigned used) {
        return getLast(used, group) < 2 * int64_t(own);
      }))
    return std::nullopt;
  // The segments whose kernels read what the group reads, and how many bytes.
  SmallVector<std::pair<Range, Cost::Count>> shared;
  for (unsigned used : sources) {
    first = std::max(first, ready[used]);
    // Operations read other parts of a larger operand, which they do not share.
    unsigned value = used % model.values.size();
    if (model.elements[value] > elements)
      continue;
    if (auto it = sharers.find({used, elements}); it != sharers.end())
      shared.emplace_back(it->second, model.bytes[value]);
  }
  for (auto &[segments, bytes] : shared)
    segments =
        getFrom(segments, first).drop_back(getFrom(segments, own).size());
  // From the last segment on, up to where all lists that are left share no
  // more: all segments may read an argument.
  std::optional<std::pair<Cost::Count, unsigned>> best;
  while (true) {
    llvm::erase_if(shared, [](auto &list) { return list.first.empty(); });
    Cost::Count most = 0;
    int64_t segment = 0;
    for (auto &[segments, bytes] : shared) {
      most += bytes;
      segment = std::max(segment, segments.back().first);
    }
    if (shared.empty() || (best && most <= best->first))
      break;
    Cost::Count sum = 0;
    for (auto &[segments, bytes] : shared)
      if (segments.back().first == segment) {
        sum += bytes;
        segments = segments.drop_back(getFrom(segments, segment).size());
      }
    if (!best || sum > best->first)
      best = {sum, segment};
  }
  return best ? std::optional(best->second) : std::nullopt;
}

bool PeakModel::Timeline::Segments::addSharing(Group &group) const {
  int64_t elements = getElements(group.front());
  size_t size = group.size();
  for (size_t index = 0; index < group.size(); ++index)
    for (unsigned used : getSources(group[index])) {
      auto it = sharers.find({used, elements});
      if (it == sharers.end() ||
          timeline.model.elements[used % timeline.model.values.size()] >
              elements)
        continue;
      int64_t own = segmentOf[group.front()];
      Range there = getFrom(it->second, own);
      there = there.drop_back(getFrom(there, own + 1).size());
      for (auto [segment, step] : there)
        if (group.insert(step) && (!isRoot(step) || group.size() > kMost))
          return false;
    }
  return group.size() > size;
}

void PeakModel::Timeline::Segments::setReader(unsigned step, bool isReader) {
  auto set = [&](Sorted &steps, int64_t key) {
    auto it = llvm::lower_bound(steps, std::pair(key, step));
    if (isReader)
      steps.insert(it, {key, step});
    else
      steps.erase(it);
  };
  for (unsigned used : getSources(step)) {
    set(places[used], getPlace(step));
    if (!timeline.isBarrier(timeline.steps[step]))
      set(sharers[{used, getElements(step)}], segmentOf[step]);
  }
}

void PeakModel::Timeline::Segments::move(unsigned step, unsigned segment) {
  if (timeline.steps[step].copy == inBackward)
    timeline.forEachRead(getNode(step), inBackward, [&](unsigned used) {
      if (makerOf[used] >= 0 && segmentOf[makerOf[used]] > segment)
        move(makerOf[used], segment);
    });
  // Of several results, one may be computed inline, and another is in memory.
  if (isReader(step))
    setReader(step, false);
  segmentOf[step] = segment;
  if (isReader(step))
    setReader(step, true);
  moved[segment].push_back(step);
  hasMoved.set(step);
  if (timeline.steps[step].copy == inBackward)
    for (unsigned result : getNode(step).results)
      ready[timeline.get(result, inBackward)] = segment;
}

void PeakModel::Timeline::Segments::hoist() {
  for (unsigned step = timeline.numForward; step < segmentOf.size(); ++step) {
    current = step;
    if (isReader(step))
      setReader(step, true);
    if (!isRoot(step))
      continue;
    Group group;
    group.insert(step);
    // Together, those of a kernel may free what none of them frees alone.
    do {
      if (std::optional<unsigned> segment = findSegment(group)) {
        // Those that read a result of the group are behind it.
        SmallVector<unsigned> ordered(group.begin(), group.end());
        llvm::sort(ordered);
        for (unsigned each : ordered)
          move(each, *segment);
      }
    } while (addSharing(group));
  }
}

void PeakModel::Timeline::hoistSharing() {
  Segments segments(*this);
  segments.hoist();
  steps = segments.getOrder();
}
