//===- BoundedRange.h - Ranges of bounded functions -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_CANDIDATES_BOUNDEDRANGE_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_CANDIDATES_BOUNDEDRANGE_H

#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace mlir::fad {
class ScalarFunction;

/// The range of a function that is bounded on all numbers, with a limit on
/// either side.
struct BoundedRange {
  double lowest, highest;
  /// The limits for arguments of large magnitude; ascending, one if equal.
  llvm::SmallVector<double, 2> limits;
  /// Values at `getSampleArguments()`; ascending.
  std::vector<double> samples;
};

/// Arguments, ascending, that follow the standard logistic distribution, whose
/// standard deviation is 1.8: inputs of activations are approximately normal,
/// with a deviation between 1 and 2, and have some outliers.
std::vector<double> getSampleArguments();

/// The range of `function`, from its values at about ten thousand arguments;
/// `nullopt` if it is unbounded, has no limit, or is undefined for some
/// arguments.
std::optional<BoundedRange> findBoundedRange(ScalarFunction &function);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_CANDIDATES_BOUNDEDRANGE_H
