//===- ExhaustiveResiduals.h - Residuals by trying all choices --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TEST_TRANSFORMS_EXHAUSTIVERESIDUALS_H
#define FAD_TEST_TRANSFORMS_EXHAUSTIVERESIDUALS_H

#include "fad/Analysis/MinCut.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::fad {
class CostModel;

namespace test {

/// The least that it costs to have the values `read` in backward, by trying all
/// choices; `nullopt` where that takes more than `maxStates` states at once.
///
/// Going back through the forward part, each operation with results that
/// backward needs either is executed again in backward, which then needs what
/// it reads, or has these results saved. Choices that need the same of what
/// comes before differ only in what they have cost so far, so that one of them
/// is followed: that leaves out none that could be better.
std::optional<Cost> findLeastCost(ArrayRef<Value> read, CostModel &costs,
                                  size_t maxStates);

} // namespace test
} // namespace mlir::fad

#endif // FAD_TEST_TRANSFORMS_EXHAUSTIVERESIDUALS_H
