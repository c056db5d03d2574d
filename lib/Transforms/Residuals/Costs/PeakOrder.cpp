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
