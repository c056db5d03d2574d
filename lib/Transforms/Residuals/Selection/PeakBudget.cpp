//===- PeakBudget.cpp - Selection within a peak of memory -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds selections within a peak of memory. A minimum cut does not know the
// peak: backward may repeat all of a long part at once. So cuts of several
// networks compete, in which backward repeats segments of forward one by one,
// as in T. Chen, B. Xu, C. Zhang, C. Guestrin, "Training Deep Nets with
// Sublinear Memory Cost" (2016), but with segments of several sizes, and with
// the Pareto front of minimum cuts in each. `PeakModel` gives the peak of each
// selection; those that no faster one undercuts stay.
//
//===----------------------------------------------------------------------===//

#include "PeakBudget.h"
#include "Materialize.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Residuals/Costs/PeakModel.h"

using namespace mlir;
using namespace mlir::fad;

/// The sizes of segments, as parts of the forward part.
static constexpr int64_t kParts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

/// The selections between two neighbors of a Pareto front that are tried.
static constexpr unsigned kSteps = 8;

/// A slower selection has to lower the peak by one in so many bytes: some save
/// other tensors for a few bytes.
static constexpr int64_t kLeastGain = 100000;

std::vector<PeakSelection> fad::findPeakFront(const JointFunction &joint,
                                              CostModel &costs) {
  llvm::SetVector<Value> read = findReadValues(joint);
  PeakModel model(joint, costs);
  std::vector<PeakSelection> candidates;
  auto consider = [&] {
    for (Selection &selection :
         findParetoFront(read.getArrayRef(), costs, kSteps)) {
      // A segment that ends at a value which cannot be saved has no cut.
      if (selection.cost.isInfinite && !candidates.empty())
        continue;
      int64_t peak = model.getPeak(selection.saved);
      candidates.push_back({std::move(selection), peak});
    }
  };
  consider();
  size_t numKept = 0;
  for (int64_t parts : kParts) {
    llvm::DenseSet<Value> kept = model.divide(model.getForwardBytes() / parts);
    // Segments cannot be shorter than an operation.
    if (kept.size() <= numKept)
      continue;
    numKept = kept.size();
    costs.setKept(std::move(kept));
    consider();
  }
  costs.setKept({});

  llvm::stable_sort(
      candidates, [](const PeakSelection &a, const PeakSelection &b) {
        return std::tie(a.selection.cost.time, a.peak, a.selection.cost.bytes) <
               std::tie(b.selection.cost.time, b.peak, b.selection.cost.bytes);
      });
  std::vector<PeakSelection> front;
  for (PeakSelection &candidate : candidates)
    if (front.empty() ||
        candidate.peak < front.back().peak - front.back().peak / kLeastGain)
      front.push_back(std::move(candidate));
  // Between the fastest and the lowest peak, no selection keeps fewer bytes
  // than a slower one.
  Cost::Count fewest = front.back().selection.cost.bytes;
  if (front.front().selection.cost.bytes < fewest)
    return front;
  std::vector<PeakSelection> falling;
  for (PeakSelection &candidate : front) {
    Cost::Count bytes = candidate.selection.cost.bytes;
    if (falling.empty() ||
        (bytes >= fewest && bytes <= falling.back().selection.cost.bytes))
      falling.push_back(std::move(candidate));
  }
  return falling;
}

PeakSelection fad::findWithinPeak(const JointFunction &joint, CostModel &costs,
                                  const SelectionOptions &options,
                                  int64_t &fastestPeak) {
  std::vector<PeakSelection> front = findPeakFront(joint, costs);
  fastestPeak = front.front().peak;
  auto budget =
      std::min<double>(options.peakBudget, options.peakFraction * fastestPeak);
  auto fits = llvm::find_if(front, [&](const PeakSelection &candidate) {
    return candidate.peak <= budget;
  });
  return std::move(fits == front.end() ? front.back() : *fits);
}
