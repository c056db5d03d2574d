//===- ParetoFront.h - Trade-offs of bytes and time -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_PARETOFRONT_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_PARETOFRONT_H

#include "MinCutSelection.h"

namespace mlir::fad {

/// The Pareto front of selections between the least time and the fewest bytes,
/// in the order of falling bytes and growing time. Each is optimal for some
/// weight of bytes against time, so no selection has less of both than a
/// mixture of two neighbors. There are at most 33, and fewer than `steps`
/// mixtures between any two.
std::vector<Selection> findParetoFront(ArrayRef<Value> read, CostModel &costs,
                                       unsigned steps = 0);

/// A selection of little time within `budget` bytes: the fastest one on the
/// Pareto front that fits, improved by those parts of the next one that fit as
/// well. If none fits, the selection of fewest bytes.
Selection findWithinBudget(ArrayRef<Value> read, CostModel &costs,
                           int64_t budget);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_PARETOFRONT_H
