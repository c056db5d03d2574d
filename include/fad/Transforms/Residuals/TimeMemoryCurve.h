//===- TimeMemoryCurve.h - Bytes against time -------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_TIMEMEMORYCURVE_H
#define FAD_TRANSFORMS_RESIDUALS_TIMEMEMORYCURVE_H

#include "fad/Transforms/Passes.h"

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// A choice of residuals that the policy `auto` makes for some budget.
struct TimeMemoryPoint {
  /// What is kept, in bytes.
  int64_t bytes;
  /// The estimated time to keep it and to compute the rest again, in the time
  /// that it takes to move an eighth of a byte between memory and processor.
  int64_t time;
};

/// The choices between the one of least time and the one of fewest bytes for
/// `joint`, in which no residuals are selected yet, and of the policies `rules`
/// those that keep fewer bytes; `joint` is not changed. `options` say what the
/// policy `auto` may do, and what sizes count as that are known only when the
/// program runs; a budget is not looked at.
SmallVector<TimeMemoryPoint>
findTimeMemoryCurve(func::FuncOp joint, const FadSelectResidualsOptions &options,
                    ArrayRef<Policy> rules);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_RESIDUALS_TIMEMEMORYCURVE_H
