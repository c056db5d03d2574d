//===- ParetoFront.cpp - Trade-offs of bytes and time ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds selections between the least time and the fewest bytes. The two
// extremes are minimum cuts; between two neighbors, the minimum cut for the
// weight of bytes against time under which both are equally good is the next,
// or shows that there is none. A budget bisects in this way, and takes what
// still fits of the faster neighbor.
//
//===----------------------------------------------------------------------===//

#include "ParetoFront.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"

using namespace mlir;
using namespace mlir::fad;

using Cut = ResidualNetwork::Cut;

/// The objective under which `fast` and `small` are equally good.
static Objective getObjectiveBetween(const Cut &fast, const Cut &small) {
  Cost::Count bytes = small.cost.time - fast.cost.time;
  Cost::Count time = fast.cost.bytes - small.cost.bytes;
  // The sums that a cut compares have to fit.
  constexpr Cost::Count limit = 1 << 24;
  while (std::max(bytes, time) > limit) {
    bytes = (bytes + 1) / 2;
    time = (time + 1) / 2;
  }
  return {bytes, time};
}

/// The best cut between two neighbors; `nullopt` if none is better than both
/// under the objective for which they are equal.
static std::optional<Cut> findBetween(const ResidualNetwork &network,
                                      const Cut &fast, const Cut &small) {
  if (fast.cost.time >= small.cost.time || fast.cost.bytes <= small.cost.bytes)
    return std::nullopt;
  Cut cut = network.solve(getObjectiveBetween(fast, small));
  if (cut.cost.bytes >= fast.cost.bytes || cut.cost.bytes <= small.cost.bytes)
    return std::nullopt;
  return cut;
}

static Cut findFastest(const ResidualNetwork &network) {
  return network.solve({0, 1});
}

std::vector<Selection> fad::findParetoFront(ArrayRef<Value> read,
                                            CostModel &costs, unsigned steps) {
  ResidualNetwork network(read, costs);
  std::vector<Cut> curve = {findFastest(network), network.solve()};
  // Each round looks between all neighbors.
  for (unsigned round = 0; round < 5; ++round) {
    std::vector<Cut> finer = {curve.front()};
    for (size_t next = 1; next < curve.size(); ++next) {
      if (std::optional<Cut> cut =
              findBetween(network, curve[next - 1], curve[next]))
        finer.push_back(std::move(*cut));
      finer.push_back(curve[next]);
    }
    bool isComplete = finer.size() == curve.size();
    curve = std::move(finer);
    if (isComplete)
      break;
  }
  std::vector<Selection> result;
  for (size_t next = 0; next < curve.size(); ++next) {
    if (next > 0 && steps > 0) {
      std::vector<Cut> mixtures =
          network.interpolate(curve[next], curve[next - 1], steps);
      for (const Cut &cut : llvm::reverse(mixtures))
        result.push_back(network.getResiduals(cut));
    }
    if (next == 0 || curve[next].cost.bytes < curve[next - 1].cost.bytes)
      result.push_back(network.getResiduals(curve[next]));
  }
  return result;
}

Selection fad::findWithinBudget(ArrayRef<Value> read, CostModel &costs,
                                int64_t budget) {
  ResidualNetwork network(read, costs);
  Cut fast = findFastest(network);
  if (fast.cost.bytes <= budget)
    return network.getResiduals(fast);
  Cut small = network.solve();
  if (small.cost.bytes > budget)
    return network.getResiduals(small);
  while (std::optional<Cut> cut = findBetween(network, fast, small))
    (cut->cost.bytes <= budget ? small : fast) = std::move(*cut);
  return network.getResiduals(network.mix(std::move(small), fast, budget));
}
