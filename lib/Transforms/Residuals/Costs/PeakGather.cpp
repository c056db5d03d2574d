//===- PeakGather.cpp - Kernels between two that do not fuse --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two kernels that do not fuse, a compiler makes one kernel of the
// elementwise operations of backward that share operands. All run where the
// first is, each behind those whose results it reads.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakSegments.h"

using namespace mlir;
using namespace mlir::fad;

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
