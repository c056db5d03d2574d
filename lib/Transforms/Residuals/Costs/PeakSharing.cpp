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
// together. All run where the first is, so that those of one kernel are
// gathered between two kernels that do not fuse.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

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
  /// Segments or places in ascending order, each with a step that is there.
  using Sorted = SmallVector<std::pair<int64_t, unsigned>, 2>;
  using Range = ArrayRef<std::pair<int64_t, unsigned>>;
  /// Steps that move together, of as many elements each.
  using Group = llvm::SmallSetVector<unsigned, 4>;

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
  /// The last place in which any step but those of a group reads a copy; -1 if
  /// there is none.
  int64_t getLast(unsigned copy, const Group &group = {}) const;
  /// The copies in memory that a step reads, each once.
  SmallVector<unsigned> getSources(unsigned step) const;
  /// The bytes of a copy's buffer that ends with its last reader.
  Cost::Count getFreeableBytes(unsigned copy) const;
  /// The copies in memory that a group reads, each once, but its results.
  SmallVector<unsigned> getSources(const Group &group) const;
  /// Whether steps make more bytes than they free, as the last readers of the
  /// sources for which `isLast` holds.
  bool addsBytes(ArrayRef<unsigned> steps, ArrayRef<unsigned> sources,
                 llvm::function_ref<bool(unsigned)> isLast) const;
  /// The segment before its own to which a group moves.
  std::optional<unsigned> findSegment(const Group &group) const;
  /// Adds the steps of its segment to a group that share operands with it.
  /// Fails if there are none, or if they cannot all move.
  bool addSharing(Group &group) const;
  /// Adds a step to the readers of its sources, or removes it.
  void setReader(unsigned step, bool isReader);
  /// For each step of a segment that is a kernel or the last operation of one,
  /// the number of the first step of its kernel, and its own.
  using Places = SmallVector<std::pair<unsigned, unsigned>>;
  Places findPlaces(ArrayRef<unsigned> run) const;
  /// The kernel with which a step shares the most bytes, of those that read a
  /// copy and that make one.
  std::optional<unsigned> findKernel(
      unsigned step,
      const llvm::DenseMap<std::pair<unsigned, int64_t>, unsigned> &reads,
      const llvm::DenseMap<unsigned, unsigned> &makes) const;
  /// Adds the steps of a segment to the order, those of a kernel where the
  /// first of them is.
  void addGathered(ArrayRef<unsigned> run, SmallVector<Step> &order) const;
  /// Moves a step to a segment, behind those that compute its operands inline.
  void move(unsigned step, unsigned segment);

  /// The steps of the segment `first` and later ones.
  static Range getFrom(Range steps, int64_t first) {
    return steps.drop_front(llvm::lower_bound(steps, std::pair(first, 0u)) -
                            steps.begin());
  }

  /// Larger groups stay.
  static constexpr size_t kMost = 64;

  const Timeline &timeline;
  /// The segment of each step; the steps that moved to each segment; the
  /// kernels behind the segments.
  SmallVector<unsigned> segmentOf;
  SmallVector<SmallVector<unsigned>> moved;
  llvm::BitVector hasMoved;
  /// For each copy: the first segment that has it; the step of backward that
  /// makes it, or -1; the last step that reads it in memory, or -1; the places
  /// of those that the pass has reached; whether its buffer lasts to the end of
  /// the step.
  SmallVector<unsigned> ready;
  SmallVector<int> makerOf, lastReader;
  SmallVector<Sorted> places;
  llvm::BitVector isKept;
  /// For each copy and count of elements, the segments of the steps that the
  /// pass has reached which read the copy and fuse with others of as many
  /// elements.
  llvm::DenseMap<std::pair<unsigned, int64_t>, Sorted> sharers;
  /// The step that the pass is at.
  unsigned current = 0;
};

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

std::optional<unsigned> PeakModel::Timeline::Segments::findKernel(
    unsigned step,
    const llvm::DenseMap<std::pair<unsigned, int64_t>, unsigned> &reads,
    const llvm::DenseMap<unsigned, unsigned> &makes) const {
  const PeakModel &model = timeline.model;
  int64_t elements = getElements(step);
  SmallVector<unsigned> sources = getSources(step);
  if (addsBytes(step, sources,
                [&](unsigned used) { return lastReader[used] <= int(step); }))
    return std::nullopt;
  // The bytes that it shares with each kernel, and the first that has them all.
  llvm::SmallDenseMap<unsigned, Cost::Count> shared;
  unsigned first = 0;
  for (unsigned used : sources) {
    first = std::max(first, makes.lookup(used));
    unsigned value = used % model.values.size();
    if (auto it = reads.find({used, elements});
        it != reads.end() && model.elements[value] <= elements)
      shared[it->second] += model.bytes[value];
  }
  std::optional<std::pair<Cost::Count, unsigned>> best;
  for (auto [kernel, bytes] : shared)
    if (kernel >= first && (!best || std::pair(bytes, kernel) > *best))
      best = {bytes, kernel};
  return best ? std::optional(best->second) : std::nullopt;
}

PeakModel::Timeline::Segments::Places
PeakModel::Timeline::Segments::findPlaces(ArrayRef<unsigned> run) const {
  Places places;
  // The last kernel of as many elements that reads each copy, and that which
  // makes it.
  llvm::DenseMap<std::pair<unsigned, int64_t>, unsigned> reads;
  llvm::DenseMap<unsigned, unsigned> makes;
  for (unsigned number = 0; number < run.size(); ++number) {
    unsigned step = run[number];
    if (!isReader(step))
      continue;
    unsigned kernel = number;
    if (getNode(step).fuses)
      kernel = findKernel(step, reads, makes).value_or(kernel);
    places.emplace_back(kernel, number);
    timeline.forEachSource(getNode(step), inBackward, [&](unsigned used) {
      reads[{used, getElements(step)}] = kernel;
    });
    for (unsigned result : getNode(step).results)
      makes[timeline.get(result, inBackward)] = kernel;
  }
  llvm::sort(places);
  return places;
}

void PeakModel::Timeline::Segments::addGathered(
    ArrayRef<unsigned> run, SmallVector<Step> &order) const {
  llvm::DenseMap<unsigned, unsigned> numberOf;
  for (auto [number, step] : llvm::enumerate(run))
    numberOf[step] = number;
  llvm::BitVector isAdded(run.size());
  auto add = [&](unsigned last) {
    if (isAdded.test(last))
      return;
    isAdded.set(last);
    // Before it come operations that are computed inline, in their order.
    SmallVector<unsigned> numbers = {last};
    for (size_t index = 0; index < numbers.size(); ++index) {
      unsigned step = run[numbers[index]];
      if (timeline.steps[step].copy != inBackward)
        continue;
      timeline.forEachRead(getNode(step), inBackward, [&](unsigned used) {
        if (makerOf[used] < 0)
          return;
        auto it = numberOf.find(makerOf[used]);
        if (it == numberOf.end() || isAdded.test(it->second))
          return;
        isAdded.set(it->second);
        numbers.push_back(it->second);
      });
    }
    llvm::sort(numbers);
    for (unsigned number : numbers)
      order.push_back(timeline.steps[run[number]]);
  };
  for (auto [kernel, number] : findPlaces(run))
    add(number);
  for (unsigned number = 0; number < run.size(); ++number)
    add(number);
}

SmallVector<PeakModel::Timeline::Step>
PeakModel::Timeline::Segments::getOrder() const {
  ArrayRef<Step> steps = timeline.steps;
  SmallVector<Step> order(steps.take_front(timeline.numForward));
  unsigned current = 0;
  SmallVector<unsigned> run;
  auto addRun = [&] {
    for (unsigned step : moved[current])
      // Operations that are computed inline may have moved further since.
      if (segmentOf[step] == current)
        run.push_back(step);
    addGathered(run, order);
    run.clear();
  };
  for (unsigned step = timeline.numForward; step < steps.size(); ++step) {
    if (timeline.isBarrier(steps[step])) {
      addRun();
      ++current;
      order.push_back(steps[step]);
      continue;
    }
    if (!hasMoved[step])
      run.push_back(step);
  }
  addRun();
  return order;
}

void PeakModel::Timeline::hoistSharing() {
  Segments segments(*this);
  segments.hoist();
  steps = segments.getOrder();
}
