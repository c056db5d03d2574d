//===- ParetoFront.h - Bytes against time -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_PARETOFRONT_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_PARETOFRONT_H

#include "MinCutSelection.h"

namespace mlir::fad {

/// The choices between the one of least time and the one of fewest bytes, in
/// the order of falling bytes and growing time: each is best for some weight of
/// bytes against time, so that no choice has less of both than a mixture of two
/// neighbours. At most 33.
std::vector<Selection> findParetoFront(ArrayRef<Value> read,
                                              CostModel &costs);

/// A choice of no more than `budget` bytes that takes little time: the best one
/// on the curve, and those parts of the next one that fit as well. Where none
/// fits, the choice of fewest bytes.
Selection findWithinBudget(ArrayRef<Value> read, CostModel &costs,
                                int64_t budget);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_PARETOFRONT_H
