//===- TimeMemoryCurve.h - Bytes against time -------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_SELECTION_TIMEMEMORYCURVE_H
#define FAD_TRANSFORMS_RESIDUALS_SELECTION_TIMEMEMORYCURVE_H

#include "fad/Transforms/Residuals/SelectionOptions.h"

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// A selection of the policy `auto` for some budget.
struct TimeMemoryPoint {
  /// The bytes of the residuals.
  int64_t bytes;
  /// The estimated time to keep them and to compute the other values again, in
  /// units of the time that moving an eighth of a byte between memory and
  /// processor takes.
  int64_t time;
};

/// The selections of the policy `auto` between the one of least time and the
/// one of fewest bytes for `joint`, a joint function without residuals, and the
/// selections of the policies `rules` that keep fewer bytes. `joint` stays as
/// it is. `options` are those of the policy `auto`; their budget is ignored.
SmallVector<TimeMemoryPoint>
findTimeMemoryCurve(func::FuncOp joint, const SelectionOptions &options,
                    ArrayRef<Policy> rules);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_RESIDUALS_SELECTION_TIMEMEMORYCURVE_H
