//===- PeakReorder.cpp - Orders of the kernels of backward ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inductor compares the order of the kernels of backward with others, and takes
// the one of the lowest peak, where a kernel has its results and operands at
// once, and nothing else.
//
// - A greedy order, "least peak memory first": of the kernels whose operands
//   are there, and whose results fit below the peak so far, that runs next
//   which adds the fewest bytes that stay; if none fits, the one of the fewest
//   bytes. Gradients that are larger than the operands of their kernels, as
//   those of the weights of a layer of few pixels, then come last.
// - A depth-first order: the kernels that read and make the fewest bytes come
//   first, each behind those that make its operands.
//
// An operation that adds to a tensor of zeros, such as the gradient of an
// embedding, is two kernels. The first one makes the zeros and reads nothing,
// so that the greedy order may have it long before the second one. On a GPU,
// sums of rows are one kernel with the elementwise operations of as many
// elements whose results they read, and with those that read the sums.
//
// Inductor's breadth-first order is left out: it is the lowest of no model that
// has been measured.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakTimeline.h"
#include "fad/Transforms/Residuals/Costs/ReadyKernels.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fad;

/// The kernels of backward, and the copies that they make and read.
class PeakModel::Timeline::KernelGraph {
public:
  explicit KernelGraph(const Timeline &timeline);

  /// The kernels in the order of the lowest peak, unless that is the present
  /// one.
  std::optional<SmallVector<unsigned>> sort() const;
  /// Gives the steps of `timeline` the order of `kernels`.
  void apply(ArrayRef<unsigned> kernels, Timeline &timeline) const;

private:
  /// The kernels that a copy in memory connects. One that lasts to the end of
  /// the step has a further reader.
  struct Buffer {
    Cost::Count bytes = 0;
    int maker = -1;
    SmallVector<unsigned, 2> readers;
    bool isKept = false;
    unsigned getNumReaders() const { return readers.size() + isKept; }
  };
  struct Kernel {
    SmallVector<unsigned, 2> steps;
    /// One that has no steps copies the first operand of this one.
    std::optional<unsigned> copiesFor;
    /// Numbers of buffers.
    SmallVector<unsigned, 4> reads, results;
    /// Those of the results.
    Cost::Count bytes = 0;
  };

  /// Whether readers of its results compute a step.
  bool isInline(unsigned step) const;
  /// Whether a step is one of a node.
  bool isOfNode(unsigned step) const {
    Copy copy = timeline.steps[step].copy;
    return copy != decoded && copy != loaded;
  }
  /// Calls `visit` with each copy that a step reads or makes.
  void forEachRead(unsigned step,
                   llvm::function_ref<void(unsigned)> visit) const;
  void forEachSource(unsigned step,
                     llvm::function_ref<void(unsigned)> visit) const;
  void forEachResult(unsigned step,
                     llvm::function_ref<void(unsigned)> visit) const;
  /// Whether a step begins with a copy of its first operand, which is a kernel
  /// of its own.
  bool beginsWithCopy(unsigned step) const {
    auto [number, copy] = timeline.steps[step];
    return isOfNode(step) &&
           timeline.getFirst(timeline.model.nodes[number], copy);
  }
  /// The elements of the loops of a step that may be one kernel with others of
  /// as many: an operation that fuses, or a reduction of rows. 0 for others.
  int64_t getLoop(unsigned step) const;
  /// Makes a kernel of the steps that fuse.
  void addKernels();
  /// The number of the buffer of a copy; without one if Inductor frees none.
  std::optional<unsigned> getBuffer(unsigned copy);
  void addBuffers();
  /// The most bytes that are there at once in an order of the kernels; none if
  /// a kernel reads what is not made before.
  std::optional<Cost::Count> getPeak(ArrayRef<unsigned> order) const;
  /// Bytes that are there at the beginning, and at the end.
  Cost::Count getFirst() const;
  Cost::Count getLast() const;
  /// The kernels in the greedy order, if that has a peak below `peak`, which
  /// this sets.
  std::optional<SmallVector<unsigned>> sortGreedily(Cost::Count &peak) const;
  SmallVector<unsigned> sortDepthFirst() const;

  const Timeline &timeline;
  SmallVector<Kernel> kernels;
  SmallVector<Buffer> buffers;
  /// For each copy, the step that makes it, or -1.
  SmallVector<int> makerOf;
  llvm::BitVector isGradient;
  llvm::DenseMap<unsigned, unsigned> bufferOf;
  /// For each step, its kernel, and for some, the kernel of their copies.
  SmallVector<unsigned> kernelOf;
  llvm::DenseMap<unsigned, unsigned> copierOf;
};

bool PeakModel::Timeline::KernelGraph::isInline(unsigned step) const {
  auto [number, copy] = timeline.steps[step];
  if (!isOfNode(step))
    return timeline.inlined[timeline.get(number, copy)].has_value();
  return timeline.isInline(timeline.steps[step]);
}

void PeakModel::Timeline::KernelGraph::forEachRead(
    unsigned step, llvm::function_ref<void(unsigned)> visit) const {
  auto [number, copy] = timeline.steps[step];
  if (isOfNode(step))
    timeline.forEachRead(timeline.model.nodes[number], copy, visit);
  else if (copy == decoded)
    visit(timeline.get(number, encoded));
}

void PeakModel::Timeline::KernelGraph::forEachSource(
    unsigned step, llvm::function_ref<void(unsigned)> visit) const {
  forEachRead(step, [&](unsigned used) {
    if (timeline.inlined[used])
      llvm::for_each(timeline.inlined[used]->reads, visit);
    else
      visit(used);
  });
}

void PeakModel::Timeline::KernelGraph::forEachResult(
    unsigned step, llvm::function_ref<void(unsigned)> visit) const {
  auto [number, copy] = timeline.steps[step];
  if (!isOfNode(step))
    return visit(timeline.get(number, copy));
  for (unsigned result : timeline.model.nodes[number].results)
    visit(timeline.get(result, copy));
}

PeakModel::Timeline::KernelGraph::KernelGraph(const Timeline &timeline)
    : timeline(timeline), makerOf(timeline.isInMemory.size(), -1),
      isGradient(timeline.isInMemory.size()), kernelOf(timeline.steps.size()) {
  for (unsigned gradient : timeline.model.gradients)
    isGradient.set(timeline.getInBackward(gradient));
  // A view is in the memory of its operand.
  for (unsigned step = timeline.steps.size(); step-- > timeline.numForward;) {
    bool isKept = false;
    forEachResult(step, [&](unsigned made) {
      makerOf[made] = step;
      isKept |= isGradient[made];
    });
    if (isKept && isOfNode(step) &&
        timeline.model.nodes[timeline.steps[step].number].isInPlace)
      forEachRead(step, [&](unsigned used) { isGradient.set(used); });
  }
  addKernels();
  addBuffers();
}

int64_t PeakModel::Timeline::KernelGraph::getLoop(unsigned step) const {
  const PeakModel &model = timeline.model;
  if (!isOfNode(step) || isInline(step))
    return 0;
  const Node &node = model.nodes[timeline.steps[step].number];
  if (!node.fuses && !node.reducesRows)
    return 0;
  int64_t elements = timeline.getElements(node);
  if (node.reducesRows)
    for (unsigned read : node.reads)
      elements = std::max(elements, model.elements[read]);
  return elements;
}

void PeakModel::Timeline::KernelGraph::addKernels() {
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned step = timeline.numForward; step < timeline.steps.size();
       ++step) {
    if (isInline(step))
      continue;
    classes.insert(step);
    auto [first, last] = timeline.kernelOf[step];
    for (unsigned other = first; other < last; ++other)
      if (!isInline(other))
        classes.unionSets(other, step);
    // A result without a buffer is computed where it is read.
    forEachSource(step, [&](unsigned used) {
      int maker = makerOf[used];
      if (maker < 0)
        return;
      // A GPU has a row at once, and the sums of it.
      bool isOneLoop = timeline.model.overwritesShared && getLoop(step) != 0 &&
                       getLoop(maker) == getLoop(step) &&
                       timeline.isTogether(maker, step);
      if (timeline.isFusedStep[maker] || isOneLoop)
        classes.unionSets(maker, step);
    });
  }
  // A kernel runs where the last of its steps is.
  llvm::DenseMap<unsigned, unsigned> numberOf;
  for (unsigned step = timeline.steps.size(); step-- > timeline.numForward;) {
    if (isInline(step))
      continue;
    auto [it, isNew] = numberOf.try_emplace(classes.getLeaderValue(step),
                                            unsigned(kernels.size()));
    if (isNew)
      kernels.emplace_back();
    kernels[it->second].steps.push_back(step);
    if (beginsWithCopy(step))
      kernels.emplace_back().copiesFor = step;
  }
  std::reverse(kernels.begin(), kernels.end());
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    std::reverse(kernel.steps.begin(), kernel.steps.end());
    for (unsigned step : kernel.steps)
      kernelOf[step] = number;
    if (kernel.copiesFor)
      copierOf[*kernel.copiesFor] = number;
  }
}

std::optional<unsigned>
PeakModel::Timeline::KernelGraph::getBuffer(unsigned copy) {
  const PeakModel &model = timeline.model;
  unsigned value = copy % model.values.size();
  // Inductor frees neither arguments nor cotangents.
  if (makerOf[copy] < 0 && model.nodeOf[value] < 0)
    return std::nullopt;
  auto [it, isNew] = bufferOf.try_emplace(copy, unsigned(buffers.size()));
  if (isNew) {
    Buffer &buffer = buffers.emplace_back();
    buffer.bytes = copy == timeline.get(value, encoded)
                       ? model.savedBytes[value]
                       : model.bytes[value];
    buffer.isKept = isGradient[copy];
  }
  return it->second;
}

void PeakModel::Timeline::KernelGraph::addBuffers() {
  auto addResult = [&](unsigned number, unsigned buffer) {
    buffers[buffer].maker = number;
    kernels[number].results.push_back(buffer);
    kernels[number].bytes += buffers[buffer].bytes;
  };
  auto addRead = [&](unsigned number, std::optional<unsigned> buffer) {
    if (!buffer || llvm::is_contained(kernels[number].reads, *buffer))
      return;
    kernels[number].reads.push_back(*buffer);
    buffers[*buffer].readers.push_back(number);
  };
  for (unsigned number = 0; number < kernels.size(); ++number) {
    ArrayRef<unsigned> steps = kernels[number].steps;
    for (unsigned step : steps)
      if (!timeline.isFusedStep[step])
        forEachResult(step, [&](unsigned made) {
          unsigned buffer = *getBuffer(made);
          auto copier = copierOf.find(step);
          if (copier == copierOf.end())
            return addResult(number, buffer);
          addResult(copier->second, buffer);
          addRead(number, buffer);
        });
    for (unsigned step : steps)
      forEachSource(step, [&](unsigned used) {
        if (makerOf[used] < 0 || kernelOf[makerOf[used]] != number)
          addRead(number, getBuffer(used));
      });
    if (std::optional<unsigned> step = kernels[number].copiesFor) {
      auto [node, copy] = timeline.steps[*step];
      const Computation *first =
          timeline.getFirst(timeline.model.nodes[node], copy);
      for (unsigned used : first->reads)
        addRead(number, getBuffer(used));
    }
  }
}

Cost::Count PeakModel::Timeline::KernelGraph::getFirst() const {
  Cost::Count bytes = 0;
  for (const Buffer &buffer : buffers)
    if (buffer.maker < 0)
      bytes += buffer.bytes;
  return bytes;
}

Cost::Count PeakModel::Timeline::KernelGraph::getLast() const {
  Cost::Count bytes = 0;
  for (const Buffer &buffer : buffers)
    if (buffer.isKept)
      bytes += buffer.bytes;
  return bytes;
}

std::optional<Cost::Count>
PeakModel::Timeline::KernelGraph::getPeak(ArrayRef<unsigned> order) const {
  Cost::Count live = getFirst(), most = live;
  llvm::BitVector isMade(kernels.size());
  SmallVector<unsigned> numReaders;
  for (const Buffer &buffer : buffers)
    numReaders.push_back(buffer.getNumReaders());
  for (unsigned number : order) {
    const Kernel &kernel = kernels[number];
    live += kernel.bytes;
    most = std::max(most, live);
    isMade.set(number);
    for (unsigned read : kernel.reads) {
      if (buffers[read].maker >= 0 && !isMade[buffers[read].maker])
        return std::nullopt;
      if (--numReaders[read] == 0)
        live -= buffers[read].bytes;
    }
    for (unsigned result : kernel.results)
      if (numReaders[result] == 0)
        live -= buffers[result].bytes;
  }
  return most;
}

std::optional<SmallVector<unsigned>>
PeakModel::Timeline::KernelGraph::sort() const {
  SmallVector<unsigned> order(kernels.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<Cost::Count> peak = getPeak(order);
  // No order has a lower one.
  if (!peak || *peak <= std::max(getFirst(), getLast()))
    return std::nullopt;
  std::optional<SmallVector<unsigned>> sorted = sortGreedily(*peak);
  order = sortDepthFirst();
  std::optional<Cost::Count> other = getPeak(order);
  return other && *other < *peak ? order : sorted;
}

SmallVector<unsigned> PeakModel::Timeline::KernelGraph::sortDepthFirst() const {
  // By the bytes that kernels read and make.
  SmallVector<std::pair<Cost::Count, unsigned>> keys;
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    keys.emplace_back(kernel.bytes, unsigned(number));
    for (unsigned read : kernel.reads)
      keys.back().first += buffers[read].bytes;
  }
  auto byKey = [&](unsigned a, unsigned b) { return keys[a] < keys[b]; };
  SmallVector<unsigned> stack(kernels.size()), order;
  std::iota(stack.begin(), stack.end(), 0);
  llvm::sort(stack, byKey);
  std::reverse(stack.begin(), stack.end());
  llvm::BitVector isVisited(kernels.size()), isAdded(isVisited);
  while (!stack.empty()) {
    unsigned kernel = stack.back();
    if (isVisited.test(kernel)) {
      stack.pop_back();
      if (!isAdded.test(kernel))
        order.push_back(kernel);
      isAdded.set(kernel);
      continue;
    }
    isVisited.set(kernel);
    size_t size = stack.size();
    for (unsigned read : kernels[kernel].reads)
      if (int maker = buffers[read].maker; maker >= 0 && !isVisited[maker])
        stack.push_back(maker);
    std::sort(stack.begin() + size, stack.end(),
              [&](unsigned a, unsigned b) { return byKey(b, a); });
  }
  return order;
}

std::optional<SmallVector<unsigned>>
PeakModel::Timeline::KernelGraph::sortGreedily(Cost::Count &peak) const {
  Cost::Count live = getFirst(), most = std::max(live, getLast());
  // For each kernel, the others that it waits for, and the bytes that it frees.
  SmallVector<unsigned> numWaits(kernels.size()), numReaders;
  SmallVector<Cost::Count> freed(kernels.size());
  for (const Buffer &buffer : buffers) {
    numReaders.push_back(buffer.getNumReaders());
    if (buffer.maker >= 0)
      for (unsigned reader : buffer.readers)
        ++numWaits[reader];
    if (buffer.getNumReaders() == 0 && buffer.maker >= 0)
      freed[buffer.maker] += buffer.bytes;
    if (buffer.readers.size() == 1 && !buffer.isKept)
      freed[buffer.readers.front()] += buffer.bytes;
  }
  SmallVector<Cost::Count> made;
  for (const Kernel &kernel : kernels)
    made.push_back(kernel.bytes);
  ReadyKernels ready(made);
  auto add = [&](unsigned kernel) {
    ready.add(kernel, int64_t(made[kernel]) - int64_t(freed[kernel]));
  };
  for (unsigned kernel = 0; kernel < kernels.size(); ++kernel)
    if (numWaits[kernel] == 0)
      add(kernel);
  SmallVector<unsigned> order;
  while (std::optional<unsigned> found = ready.find(most - live)) {
    unsigned next = *found;
    ready.remove(next);
    order.push_back(next);
    live += kernels[next].bytes;
    most = std::max(most, live);
    if (most >= peak)
      return std::nullopt;
    live -= freed[next];
    for (unsigned result : kernels[next].results)
      for (unsigned reader : buffers[result].readers)
        if (--numWaits[reader] == 0)
          add(reader);
    for (unsigned read : kernels[next].reads) {
      const Buffer &buffer = buffers[read];
      if (--numReaders[read] != 1 || buffer.isKept)
        continue;
      // One reader is left.
      for (unsigned reader : buffer.readers) {
        freed[reader] += buffer.bytes;
        if (ready.has(reader))
          add(reader);
      }
    }
  }
  // Kernels that wait for each other are none of Inductor's.
  if (order.size() != kernels.size())
    return std::nullopt;
  peak = most;
  return order;
}

void PeakModel::Timeline::KernelGraph::apply(ArrayRef<unsigned> sorted,
                                             Timeline &result) const {
  ArrayRef<Step> steps = timeline.steps;
  SmallVector<Step> order(steps.take_front(timeline.numForward));
  SmallVector<unsigned> numbers(timeline.numForward, 0);
  llvm::BitVector isAdded(steps.size());
  unsigned current = 0;
  // By the step, and by its new place, where the copy is that it begins with.
  llvm::DenseMap<unsigned, unsigned> copiedAt, beginOf;
  auto add = [&](unsigned last) {
    // Before it come operations that are computed inline, in their order.
    SmallVector<unsigned> added = {last};
    isAdded.set(last);
    for (size_t index = 0; index < added.size(); ++index)
      forEachRead(added[index], [&](unsigned used) {
        int maker = makerOf[used];
        if (maker < 0 || isAdded[maker] || !isInline(maker))
          return;
        isAdded.set(maker);
        added.push_back(maker);
      });
    llvm::sort(added);
    for (unsigned step : added) {
      if (auto it = copiedAt.find(step); it != copiedAt.end())
        beginOf[order.size()] = it->second;
      order.push_back(steps[step]);
      numbers.push_back(current);
    }
  };
  for (unsigned kernel : sorted) {
    ++current;
    if (std::optional<unsigned> step = kernels[kernel].copiesFor)
      copiedAt[*step] = order.size();
    for (unsigned step : kernels[kernel].steps)
      add(step);
  }
  // Gradients that are views.
  ++current;
  for (unsigned step = timeline.numForward; step < steps.size(); ++step)
    if (!isAdded[step])
      forEachResult(step, [&](unsigned made) {
        if (isGradient[made] && !isAdded[step])
          add(step);
      });
  result.steps = std::move(order);
  result.sortedKernel = std::move(numbers);
  result.beginOf = std::move(beginOf);
}

bool PeakModel::Timeline::reorderKernels() {
  KernelGraph graph(*this);
  std::optional<SmallVector<unsigned>> sorted = graph.sort();
  if (!sorted)
    return false;
  graph.apply(*sorted, *this);
  return true;
}
