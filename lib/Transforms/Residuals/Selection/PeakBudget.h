//===- PeakBudget.h - Selection within a peak of memory -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_PEAKBUDGET_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_PEAKBUDGET_H

#include "MinCutSelection.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir::fad {

/// A selection, the time of a step under it, the part of that which is not of
/// kernels that fuse, and the most bytes that forward and backward take at
/// once.
struct PeakSelection {
  Selection selection;
  Cost::Count time, calls;
  int64_t peak;
};

/// A range of selections: the peaks of all, the fastest one first, the time of
/// that, and the time of the first proposal of the function; 0 without one, and
/// where it cannot be made.
struct PeakRange {
  std::vector<int64_t> peaks;
  Cost::Count fastestTime = 0, proposedTime = 0;
};

/// Selections of growing time and falling peak, from the fastest one to that of
/// the lowest peak. They do not depend on a budget, so that a smaller one never
/// has a higher peak. A selection that lowers the peak by less than a
/// hundred-thousandth is none of them.
std::vector<PeakSelection> findPeakFront(const JointFunction &joint,
                                         CostModel &costs,
                                         const SelectionOptions &options);

/// The fastest of these selections within the budget of `options`; if none
/// fits, the one of the lowest peak. Or else the proposal of the number that
/// `options` have, if it can be made.
PeakSelection findWithinPeak(const JointFunction &joint, CostModel &costs,
                             const SelectionOptions &options, PeakRange &range);

/// Whether the time of `function` is that of the bytes which kernels move: it
/// is for a GPU, and for a compiler that fuses.
bool isTrafficTimed(func::FuncOp function, const SelectionOptions &options);

/// The selection of the fewest bytes, where bytes that kernels move count, too.
/// It is one of those from a proposal of the function (`fad.proposals`), or
/// from the fastest cut, to that of the fewest bytes; or a proposal, where that
/// takes no more time than this one and has a lower peak.
Selection findWithinTraffic(const JointFunction &joint, CostModel &costs);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_PEAKBUDGET_H
