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
// selection; those that no faster one undercuts stay. Parts of these change
// over alone where two neighbors are far apart.
//
//===----------------------------------------------------------------------===//

#include "PeakBudget.h"
#include "Materialize.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Residuals/Costs/PeakModel.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::fad;

/// The sizes of segments, as parts of the forward part.
static constexpr int64_t kParts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

/// The selections between two neighbors of a Pareto front that are tried.
static constexpr unsigned kSteps = 8;

/// A slower selection has to lower the peak by one in so many bytes: some save
/// other tensors for a few bytes.
static constexpr int64_t kLeastGain = 100000;

/// Neighbors of a front whose peaks differ by more than one in so many bytes
/// are far apart.
static constexpr int64_t kWideGap = 32;

/// The parts of a selection that change over alone in each direction, and how
/// often the gaps that are left are filled.
static constexpr unsigned kMostExchanged = 16, kRounds = 3;

bool fad::isTrafficTimed(func::FuncOp function,
                         const SelectionOptions &options) {
  return options.target == Target::gpu &&
         function->hasAttr(FadDialect::kFusesAttr);
}

/// The selections that the function has as proposals: for each, the values that
/// its names stand for, and what these are views of.
static std::vector<llvm::DenseSet<Value>>
readProposals(const JointFunction &joint) {
  func::FuncOp function = joint.getFunction();
  llvm::StringMap<Value> valueOf;
  for (Operation &op : function.front())
    if (auto names = op.getAttrOfType<ArrayAttr>(FadDialect::kNodesAttr))
      for (auto [name, result] :
           llvm::zip(names.getAsRange<StringAttr>(), op.getResults()))
        valueOf.try_emplace(name.getValue(), result);
  std::vector<llvm::DenseSet<Value>> proposals;
  auto attr = function->getAttrOfType<ArrayAttr>(FadDialect::kProposalsAttr);
  if (!attr)
    return proposals;
  for (auto names : attr.getAsRange<ArrayAttr>()) {
    llvm::DenseSet<Value> &values = proposals.emplace_back();
    for (auto name : names.getAsRange<StringAttr>())
      for (Value value = valueOf.lookup(name.getValue()); value;) {
        values.insert(value);
        auto view = value.getDefiningOp<OpaqueOp>();
        bool isView = view && view.getKind() == OpaqueKind::view &&
                      !view.getOperands().empty();
        value = isView ? view.getOperands().front() : Value();
      }
  }
  return proposals;
}

/// The bytes that kernels may move for a byte less of residuals. To compute a
/// value again that is in memory anyway, a kernel writes it: one byte for each.
/// A copy of a weight in 16 bits takes three, and a sum of all layers before,
/// more with each.
static constexpr double kTrafficOfByte = 2.75;

/// That for a byte beyond this part of the bytes of the first proposal: copies
/// of weights are made again down to it.
static constexpr double kTrafficOfMany = 3.25, kManyBytes = 0.6;

static double getPrice(const Selection &selection, const PeakModel &model,
                       double trafficOfByte = kTrafficOfByte) {
  // A value that cannot be saved has no price.
  if (selection.cost.isInfinite)
    return std::numeric_limits<double>::infinity();
  return double(model.getTime(selection.saved, selection.onHost).traffic) +
         trafficOfByte * double(selection.cost.bytes);
}

/// The place of the first of `selections` of the least price.
static size_t findCheapest(ArrayRef<Selection> selections,
                           const PeakModel &model,
                           double trafficOfByte = kTrafficOfByte) {
  SmallVector<double> prices;
  for (const Selection &selection : selections)
    prices.push_back(getPrice(selection, model, trafficOfByte));
  return llvm::min_element(prices) - prices.begin();
}

/// The cuts of proposals, in their order. One that cannot be made is infinite.
static std::vector<ResidualNetwork::Cut>
getProposedCuts(const JointFunction &joint, const ResidualNetwork &network) {
  std::vector<ResidualNetwork::Cut> cuts;
  for (const llvm::DenseSet<Value> &proposal : readProposals(joint))
    cuts.push_back(network.getCut(proposal));
  return cuts;
}

/// Selections that save what proposals do, as `getProposedCuts` has them.
static std::vector<Selection> getProposed(const JointFunction &joint,
                                          CostModel &costs) {
  llvm::SetVector<Value> read = findReadValues(joint);
  ResidualNetwork network(read.getArrayRef(), costs);
  std::vector<Selection> selections;
  for (const ResidualNetwork::Cut &cut : getProposedCuts(joint, network))
    selections.push_back(network.getResiduals(cut));
  return selections;
}

/// Selections from each proposal, or else the fastest cut, to the fewest bytes.
/// Others take the place of values there; before that, or not, values are no
/// longer saved that others which are saved make. And those from each proposal
/// to the best of these, which may lack values that its own start does not
/// save.
static std::vector<Selection> findDescents(const JointFunction &joint,
                                           CostModel &costs,
                                           const PeakModel &model) {
  llvm::SetVector<Value> read = findReadValues(joint);
  ResidualNetwork network(read.getArrayRef(), costs);
  ResidualNetwork::Cut small = network.solve();
  std::vector<ResidualNetwork::Cut> starts = getProposedCuts(joint, network);
  llvm::erase_if(starts, [](const auto &cut) { return cut.cost.isInfinite; });
  if (starts.empty())
    starts.push_back(network.solve({0, 1}));
  std::vector<Selection> found;
  auto descend = [&](const ResidualNetwork::Cut &from,
                     const ResidualNetwork::Cut &to) {
    std::vector<ResidualNetwork::Cut> cuts =
        network.descend(from, to, [&](const Selection &selection) {
          return model.getTime(selection.saved, selection.onHost).get();
        });
    for (const ResidualNetwork::Cut &cut : cuts)
      found.push_back(network.getResiduals(cut));
    return cuts;
  };
  std::vector<ResidualNetwork::Cut> tried;
  for (const ResidualNetwork::Cut &start : starts) {
    llvm::append_range(tried, descend(start, small));
    size_t first = found.size();
    std::vector<ResidualNetwork::Cut> cuts =
        descend(start, network.dropComputable(start));
    ResidualNetwork::Cut best =
        cuts[findCheapest(ArrayRef(found).drop_front(first), model)];
    llvm::append_range(tried, cuts);
    llvm::append_range(tried, descend(best, small));
  }
  ResidualNetwork::Cut best = tried[findCheapest(found, model)];
  for (const ResidualNetwork::Cut &start : starts)
    descend(start, best);
  found.push_back(network.getResiduals(small));
  return found;
}

/// `cheap`, or where that saves more than `most` bytes, a selection between it
/// and `small`, of which each part is worth its bytes: the one of the most
/// bytes that are within `most`, or else `small`. Parts change over alone.
static Selection descendTo(double most, const Selection &cheap,
                           const Selection &small, ArrayRef<Value> read,
                           CostModel &costs, const PeakModel &model) {
  if (double(cheap.cost.bytes) <= most)
    return cheap;
  if (double(small.cost.bytes) >= most)
    return small;
  ResidualNetwork network(read, costs);
  auto getPriceOfMany = [&](const Selection &selection) {
    return getPrice(selection, model, kTrafficOfMany);
  };
  std::vector<ResidualNetwork::Cut> cuts = network.descend(
      network.getCut(cheap.saved), network.getCut(small.saved),
      [&](const Selection &selection) {
        return model.getTime(selection.saved, selection.onHost).get();
      },
      /*isAlone=*/true);
  for (const ResidualNetwork::Cut &cut : cuts) {
    Selection selection = network.getResiduals(cut);
    if (double(selection.cost.bytes) <= most &&
        getPriceOfMany(selection) <= getPriceOfMany(cheap))
      return selection;
  }
  return small;
}

Selection fad::findWithinTraffic(const JointFunction &joint, CostModel &costs) {
  PeakModel model(joint, costs);
  auto getTime = [&](const Selection &selection) {
    return model.getTime(selection.saved, selection.onHost).get();
  };
  llvm::SetVector<Value> read = findReadValues(joint);
  std::vector<Selection> found = findDescents(joint, costs, model);
  llvm::append_range(found, findParetoFront(read.getArrayRef(), costs));
  std::vector<Selection> proposed = getProposed(joint, costs);
  Selection chosen = found[findCheapest(found, model)];
  if (!proposed.empty() && !proposed.front().cost.isInfinite)
    chosen = descendTo(kManyBytes * double(proposed.front().cost.bytes), chosen,
                       found[findCheapest(found, model, kTrafficOfMany)],
                       read.getArrayRef(), costs, model);
  for (Selection &other : proposed)
    if (!other.cost.isInfinite && getTime(other) <= getTime(chosen) &&
        model.getPeak(other.saved, other.onHost) <
            model.getPeak(chosen.saved, chosen.onHost))
      chosen = std::move(other);
  return chosen;
}

/// The results of contractions in the forward part of `joint`.
static llvm::DenseSet<Value> findContractions(const JointFunction &joint) {
  llvm::DenseSet<Value> results;
  for (Operation &op : joint.getFunction().front())
    if (auto opaque = dyn_cast<OpaqueOp>(op);
        opaque ? opaque.getKind() == OpaqueKind::contraction
               : hasContraction(&op))
      results.insert(op.result_begin(), op.result_end());
  return results;
}

/// Those of `candidates` that no faster one undercuts, in the order of growing
/// time and falling peak.
static std::vector<PeakSelection>
keepFront(std::vector<PeakSelection> candidates) {
  llvm::stable_sort(candidates,
                    [](const PeakSelection &a, const PeakSelection &b) {
                      return std::tie(a.time, a.peak, a.selection.cost.bytes) <
                             std::tie(b.time, b.peak, b.selection.cost.bytes);
                    });
  std::vector<PeakSelection> front;
  for (PeakSelection &candidate : candidates)
    if (front.empty() ||
        candidate.peak < front.back().peak - front.back().peak / kLeastGain)
      front.push_back(std::move(candidate));
  return front;
}

/// Selections between those neighbors of `front` that are far apart: a part
/// that changes over between them is large. Smaller ones change over instead,
/// from the faster neighbor towards the lowest peak, and back from the slower
/// one towards the least time. A gap between the same peaks is filled once,
/// though the lowest peak may have fallen since; `filled` has those of before.
static std::vector<Selection>
fillGaps(ArrayRef<PeakSelection> front, ArrayRef<Value> read, CostModel &costs,
         const PeakModel &model,
         llvm::DenseSet<std::pair<int64_t, int64_t>> &filled) {
  ResidualNetwork network(read, costs);
  auto getCut = [&](const PeakSelection &candidate) {
    return network.getCut(candidate.selection.saved);
  };
  ResidualNetwork::Cut fastest = getCut(front.front());
  ResidualNetwork::Cut lowest = getCut(front.back());
  std::vector<Selection> found;
  auto add = [&](const std::vector<ResidualNetwork::Cut> &cuts) {
    for (const ResidualNetwork::Cut &cut : cuts)
      found.push_back(network.getResiduals(cut));
  };
  for (size_t next = 1; next < front.size(); ++next) {
    int64_t high = front[next - 1].peak, low = front[next].peak;
    int64_t gap = high - low;
    if (gap <= high / kWideGap || !filled.insert({high, low}).second)
      continue;
    auto lowersPeak = [&](const ResidualNetwork::Cut &cut) {
      return model.getPeak(network.getResiduals(cut).saved) < high;
    };
    add(network.exchange(getCut(front[next - 1]), lowest, /*isFaster=*/false,
                         gap, kMostExchanged, lowersPeak));
    add(network.exchange(getCut(front[next]), fastest, /*isFaster=*/true, gap,
                         kMostExchanged, [](const auto &) { return true; }));
  }
  return found;
}

std::vector<PeakSelection> fad::findPeakFront(const JointFunction &joint,
                                              CostModel &costs,
                                              const SelectionOptions &options) {
  llvm::SetVector<Value> read = findReadValues(joint);
  PeakModel model(joint, costs);
  bool isTimed = isTrafficTimed(joint.getFunction(), options);
  std::vector<PeakSelection> candidates;
  auto add = [&](std::vector<Selection> selections) {
    for (Selection &selection : selections) {
      // A segment that ends at a value which cannot be saved has no cut.
      if (selection.cost.isInfinite && !candidates.empty())
        continue;
      int64_t peak = model.getPeak(selection.saved, selection.onHost);
      StepTime time;
      time.calls = selection.cost.time;
      if (isTimed)
        time = model.getTime(selection.saved, selection.onHost);
      candidates.push_back(
          {std::move(selection), time.get(), time.calls, peak});
    }
  };
  auto consider = [&] {
    add(findParetoFront(read.getArrayRef(), costs, kSteps));
  };
  consider();
  if (isTimed) {
    add(getProposed(joint, costs));
    costs.setKept(findContractions(joint));
    add(findDescents(joint, costs, model));
    costs.setKept({});
  }
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

  std::vector<PeakSelection> front = keepFront(std::move(candidates));
  llvm::DenseSet<std::pair<int64_t, int64_t>> filled;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<Selection> between =
        fillGaps(front, read.getArrayRef(), costs, model, filled);
    if (between.empty())
      break;
    candidates = std::move(front);
    add(std::move(between));
    front = keepFront(std::move(candidates));
  }
  return front;
}

PeakSelection fad::findWithinPeak(const JointFunction &joint, CostModel &costs,
                                  const SelectionOptions &options,
                                  PeakRange &range) {
  std::vector<PeakSelection> front = findPeakFront(joint, costs, options);
  for (const PeakSelection &selection : front)
    range.peaks.push_back(selection.peak);
  range.fastestTime = front.front().time;
  if (isTrafficTimed(joint.getFunction(), options)) {
    PeakModel model(joint, costs);
    auto getTime = [&](const Selection &selection) {
      return model.getTime(selection.saved, selection.onHost);
    };
    std::vector<Selection> proposed = getProposed(joint, costs);
    if (!proposed.empty() && !proposed.front().cost.isInfinite)
      range.proposedTime = getTime(proposed.front()).get();
    if (options.proposal >= 0 && size_t(options.proposal) < proposed.size() &&
        !proposed[options.proposal].cost.isInfinite) {
      Selection &selection = proposed[options.proposal];
      StepTime time = getTime(selection);
      int64_t peak = model.getPeak(selection.saved, selection.onHost);
      return {std::move(selection), time.get(), time.calls, peak};
    }
  }
  auto budget = std::min<double>(options.peakBudget,
                                 options.peakFraction * front.front().peak);
  if (options.slowdown > 0) {
    // The time besides that which depends on the selection.
    Cost::Count rest = 0;
    if (!isTrafficTimed(joint.getFunction(), options))
      for (Operation &op : joint.getFunction().front().without_terminator())
        rest += costs.getRecomputeTime(&op);
    double most =
        options.slowdown * double(rest + front.front().time) - double(rest);
    while (front.size() > 1 && double(front.back().time) > most)
      front.pop_back();
    return std::move(front.back());
  }
  auto fits = llvm::find_if(front, [&](const PeakSelection &candidate) {
    return candidate.peak <= budget;
  });
  return std::move(fits == front.end() ? front.back() : *fits);
}
