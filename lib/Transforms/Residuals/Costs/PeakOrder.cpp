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
// In forward, an operation waits for the first that reads its result, behind
// other kernels, if its operands are there until then anyway: Inductor fuses
// both for a CPU. A kernel of several operations has all of their operands and
// results at once, but for results that are written over operands.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"
#include <numeric>

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

bool PeakModel::Timeline::isInline(const Step &step) const {
  const Node &node = model.nodes[step.number];
  return (node.fuses || node.isInPlace) &&
         llvm::all_of(node.results, [&](unsigned result) {
           return inlined[get(result, step.copy)].has_value();
         });
}

int64_t PeakModel::Timeline::getElements(const Node &node) const {
  int64_t elements = 0;
  for (unsigned result : node.results)
    elements = std::max(elements, model.elements[result]);
  return elements;
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
// Operations of forward that wait
//===----------------------------------------------------------------------===//

SmallVector<unsigned> PeakModel::Timeline::findDelays() const {
  // The kernels before each step that do not fuse. For each copy, the place of
  // the first step that reads it, and those kernels before the last one.
  SmallVector<unsigned> runOf(steps.size() + 1), first(isInMemory.size(), ~0u);
  SmallVector<unsigned> lastRun(isInMemory.size());
  for (auto [time, step] : llvm::enumerate(steps)) {
    runOf[time + 1] = runOf[time];
    if (step.copy == decoded || step.copy == loaded) {
      unsigned read =
          get(step.number, step.copy == decoded ? encoded : inForward);
      lastRun[read] = runOf[time];
      continue;
    }
    const Node &node = model.nodes[step.number];
    runOf[time + 1] += !node.isInPlace && !node.isFusedReader;
    if (isInline(step))
      continue;
    for (unsigned read : getSources(step))
      lastRun[read] = runOf[time];
  }
  for (unsigned result : model.results) {
    // A view keeps its operand.
    unsigned copy = get(result, inForward);
    lastRun[copy] = runOf.back();
    if (inlined[copy])
      for (unsigned read : inlined[copy]->reads)
        lastRun[read] = runOf.back();
  }

  SmallVector<unsigned> delays(numForward);
  auto fuses = [&](unsigned time) {
    return time < numForward && model.nodes[steps[time].number].fuses &&
           !isInline(steps[time]);
  };
  // From the last step on, so that those that read a result have their places.
  // An inlined one has that of its first reader.
  for (unsigned time = steps.size(); time-- > 0;) {
    auto [number, copy] = steps[time];
    if (copy == decoded || copy == loaded)
      continue;
    const Node &node = model.nodes[number];
    unsigned reader = ~0u, place = time;
    for (unsigned result : node.results)
      reader = std::min(reader, first[get(result, copy)]);
    if (isInline(steps[time]))
      place = reader;
    else if (fuses(time) && fuses(reader) &&
             getElements(node) ==
                 getElements(model.nodes[steps[reader].number]) &&
             llvm::all_of(getSources(steps[time]), [&](unsigned read) {
               return model.nodeOf[read % model.values.size()] < 0 ||
                      lastRun[read] >= runOf[reader];
             }))
      place = reader;
    forEachRead(node, copy, [&](unsigned used) {
      first[used] = std::min(first[used], place);
    });
    if (time < numForward)
      delays[time] = isInline(steps[time]) ? time : place;
  }
  return delays;
}

SmallVector<unsigned> PeakModel::Timeline::getSources(const Step &step) const {
  SmallVector<unsigned> sources;
  forEachSource(model.nodes[step.number], step.copy,
                [&](unsigned used) { sources.push_back(used); });
  return sources;
}

void PeakModel::Timeline::delayFused() {
  // One that may write over what others of its kernel read needs no delay: it
  // takes the memory of its operand.
  if (model.overwritesShared)
    return;
  // Each step behind those that wait for it, whose order stays.
  SmallVector<unsigned> delays = findDelays();
  // Views wait for their operands.
  SmallVector<unsigned> keyOf(isInMemory.size());
  for (unsigned time = 0; time < numForward; ++time) {
    const Node &node = model.nodes[steps[time].number];
    if (isInline(steps[time]))
      forEachRead(node, inForward, [&](unsigned read) {
        delays[time] = std::max(delays[time], keyOf[read]);
      });
    for (unsigned result : node.results)
      keyOf[get(result, inForward)] = delays[time];
  }
  SmallVector<unsigned> order(numForward);
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return delays[a] < delays[b]; });
  SmallVector<Step> sorted;
  for (unsigned time : order)
    sorted.push_back(steps[time]);
  llvm::copy(sorted, steps.begin());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Operations that are one kernel, and have loops over as many elements.
class PeakModel::Timeline::Kernel {
public:
  explicit Kernel(Timeline &timeline) : timeline(timeline) {}

  /// Adds an operation if it reads what others read or compute.
  bool add(unsigned time) {
    SmallVector<unsigned, 8> sources;
    auto [number, copy] = timeline.steps[time];
    const Node &node = timeline.model.nodes[number];
    int64_t elements = timeline.getElements(node);
    timeline.forEachSource(node, copy,
                           [&](unsigned used) { sources.push_back(used); });
    if (!times.empty() &&
        (elements != this->elements || times.size() == kMostOperations ||
         llvm::none_of(sources, [&](unsigned used) {
           return makerOf.contains(used) || readers.contains(used);
         })))
      return false;
    this->elements = elements;
    uint64_t own = uint64_t(1) << times.size(), before = 0;
    for (unsigned used : sources) {
      if (auto it = makerOf.find(used); it != makerOf.end())
        before |= uint64_t(1) << it->second | ancestors[it->second];
      // Operations read other parts of a larger operand, which they do not
      // share.
      unsigned value = used % timeline.model.values.size();
      if (timeline.model.elements[value] <= elements)
        readers[used] |= own;
    }
    for (unsigned result : node.results)
      makerOf[timeline.get(result, copy)] = times.size();
    ancestors.push_back(before);
    times.push_back(time);
    return true;
  }

  void end() {
    // One with a reduction is as Inductor has it.
    if (timeline.model.overwritesShared && !isSummed())
      overwrite();
    else
      hold();
    times.clear();
    ancestors.clear();
    makerOf.clear();
    readers.clear();
  }

private:
  /// Inductor makes no larger kernels.
  static constexpr size_t kMostOperations = 64;

  /// Lets the operations have all of their operands and results at once.
  void join() {
    for (unsigned time : times)
      timeline.kernelOf[time] = {times.front(), times.back()};
  }

  /// Keeps operands that the last operation to read one may not write over, as
  /// it does not depend on all others that read it.
  void hold() {
    join();
    for (auto [used, mask] : readers) {
      unsigned last = llvm::Log2_64(mask);
      if (timeline.last[used] <= times.back() &&
          mask & ~(uint64_t(1) << last) & ~ancestors[last])
        timeline.isHeld.set(used);
    }
  }

  /// Whether the kernel has a part of a sum over the rows of a result.
  bool isSummed() const {
    return llvm::any_of(makerOf, [&](const auto &made) {
      return timeline.isSummed[made.first];
    });
  }

  /// Lets operations write over operands of which they are the last to read
  /// them, in an order in which more do, where one is found.
  void overwrite();

  /// Whether the operation `index` may write over the operand `used`.
  bool fits(unsigned index, unsigned used) const;

  /// For each of `order`, from the last one, the bytes of an operand that it
  /// is the last of them to read and writes over, if there is one.
  SmallVector<int64_t> findOverwritten(ArrayRef<unsigned> order,
                                       ArrayRef<unsigned> operands) const;

  /// Operations from the last one: each reads as few as possible of `operands`
  /// that are not read behind it.
  SmallVector<unsigned> sort(ArrayRef<unsigned> operands) const;

  /// Those of `operands` that the operation `index` reads and none of `behind`.
  SmallVector<unsigned> findFree(unsigned index, uint64_t behind,
                                 ArrayRef<unsigned> operands) const;

  Timeline &timeline;
  int64_t elements = 0;
  SmallVector<unsigned> times;
  /// For each operation, those that it depends on.
  SmallVector<uint64_t> ancestors;
  /// By copy, the operation that computes it, and those that read it.
  llvm::DenseMap<unsigned, unsigned> makerOf;
  llvm::DenseMap<unsigned, uint64_t> readers;
};

bool PeakModel::Timeline::Kernel::fits(unsigned index, unsigned used) const {
  const PeakModel &model = timeline.model;
  const Node &node = model.nodes[timeline.steps[times[index]].number];
  unsigned value = used % model.values.size();
  return node.overwrites && model.elements[value] == elements &&
         llvm::any_of(node.results, [&](unsigned result) {
           return model.bytes[result] == model.bytes[value];
         });
}

SmallVector<unsigned>
PeakModel::Timeline::Kernel::findFree(unsigned index, uint64_t behind,
                                      ArrayRef<unsigned> operands) const {
  SmallVector<unsigned> found;
  for (unsigned used : operands) {
    uint64_t mask = readers.lookup(used);
    if (mask >> index & 1 && !(mask & behind))
      found.push_back(used);
  }
  return found;
}

SmallVector<int64_t> PeakModel::Timeline::Kernel::findOverwritten(
    ArrayRef<unsigned> order, ArrayRef<unsigned> operands) const {
  const PeakModel &model = timeline.model;
  SmallVector<int64_t> sizes;
  uint64_t behind = 0;
  for (unsigned index : order) {
    sizes.push_back(0);
    for (unsigned used : findFree(index, behind, operands))
      if (fits(index, used))
        sizes.back() = model.bytes[used % model.values.size()];
    behind |= uint64_t(1) << index;
  }
  return sizes;
}

SmallVector<unsigned>
PeakModel::Timeline::Kernel::sort(ArrayRef<unsigned> operands) const {
  SmallVector<unsigned> order;
  uint64_t behind = 0;
  while (order.size() < times.size()) {
    uint64_t needed = 0;
    for (unsigned index = 0; index < times.size(); ++index)
      if (!(behind >> index & 1))
        needed |= ancestors[index];
    std::optional<std::tuple<bool, size_t, unsigned>> best;
    for (unsigned index = times.size(); index-- > 0;) {
      if ((behind | needed) >> index & 1)
        continue;
      SmallVector<unsigned> free = findFree(index, behind, operands);
      bool isWaste =
          llvm::none_of(free, [&](unsigned used) { return fits(index, used); });
      if (!best || std::pair(isWaste, free.size()) <
                       std::pair(std::get<0>(*best), std::get<1>(*best)))
        best = {isWaste, free.size(), index};
    }
    order.push_back(std::get<2>(*best));
    behind |= uint64_t(1) << order.back();
  }
  return order;
}

void PeakModel::Timeline::Kernel::overwrite() {
  // One operation alone may write over any operand that is freed behind it.
  if (times.size() < 2)
    return;
  const PeakModel &model = timeline.model;
  SmallVector<unsigned> operands;
  for (auto [used, mask] : readers)
    if (timeline.last[used] <= times.back() && !makerOf.contains(used) &&
        model.nodeOf[used % model.values.size()] >= 0)
      operands.push_back(used);
  llvm::sort(operands);
  SmallVector<unsigned> inOrder =
      llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, times.size())));
  SmallVector<unsigned> order = sort(operands);
  SmallVector<int64_t> sizes = findOverwritten(order, operands);
  // Those that gain nothing may be several kernels, of which each frees
  // operands.
  if (llvm::count(sizes, 0) >=
      llvm::count(findOverwritten(inOrder, operands), 0))
    return;
  join();
  for (unsigned used : operands)
    timeline.isHeld.set(used);
  for (auto [index, size] : llvm::zip_equal(order, sizes))
    timeline.reusable[times[index]] = size;
}

void PeakModel::Timeline::findKernels() {
  kernelOf.resize(steps.size() + 1);
  for (unsigned time = 0; time <= steps.size(); ++time)
    kernelOf[time] = {time, time};
  isHeld.clear();
  isHeld.resize(isInMemory.size());
  reusable.assign(steps.size() + 1, 0);
  if (!model.fusion)
    return;
  Kernel kernel(*this);
  for (unsigned time = 0; time < steps.size(); ++time) {
    auto [number, copy] = steps[time];
    bool isNode = copy == inForward || copy == inBackward;
    const Node &node = model.nodes[isNode ? number : 0];
    if (!isNode || time == numForward || (!node.fuses && !node.isInPlace) ||
        (time > numForward && !isTogether(time - 1, time)))
      kernel.end();
    if (!isNode || !node.fuses)
      continue;
    if (isInline(steps[time]) || kernel.add(time))
      continue;
    kernel.end();
    kernel.add(time);
  }
  kernel.end();
}
