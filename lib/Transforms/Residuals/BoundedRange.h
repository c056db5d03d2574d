//===- BoundedRange.h - What values a function takes ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_BOUNDEDRANGE_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_BOUNDEDRANGE_H

#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace mlir::fad {
class ScalarFunction;

/// What values a function takes that is bounded on all numbers, with a limit on
/// either side.
struct BoundedRange {
  double lowest, highest;
  /// Where it goes for arguments of great size; ascending, one if equal.
  llvm::SmallVector<double, 2> limits;
  /// Values at `getSampleArguments()`; ascending.
  std::vector<double> samples;
};

/// Arguments, ascending, that follow the standard logistic distribution, whose
/// standard deviation is 1.8: what precedes an activation is about normal, with
/// a deviation between 1 and 2, and some values lie far out.
std::vector<double> getSampleArguments();

/// The range of `function`, from its values at some ten thousand arguments;
/// `nullopt` where it is not bounded, has no limit, or is not defined for all
/// arguments.
std::optional<BoundedRange> findBoundedRange(ScalarFunction &function);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_BOUNDEDRANGE_H
