//===- Alternatives.h - Choice among alternatives ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_ALTERNATIVES_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_ALTERNATIVES_H

#include "fad/Transforms/Residuals/Candidates/DerivativeFromOutput.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fad {
class CostModel;
class JointFunction;

/// Replaces each `fad.alternatives` in `function` by its first operand.
void takeFirstAlternatives(func::FuncOp function);

/// Replaces each `fad.alternatives` in the forward part of `joint` by one of
/// its operands, so that the selected residuals have the fewest bytes, then the
/// least time; in large components of choices, to a local optimum.
void chooseAlternatives(const JointFunction &joint, CostModel &costs);

/// Prepares `function`, a joint function, for a minimum cut under `options`:
/// offers approximate derivatives where the options allow them, and chooses
/// among alternatives. Then calls `cut` with what is left to choose from, and
/// with the reasons to keep operands of approximate derivatives.
void prepareForCut(func::FuncOp function, const SelectionOptions &options,
                   llvm::function_ref<void(const JointFunction &, CostModel &,
                                           const DerivativeFromOutputReasons &)>
                       cut);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_ALTERNATIVES_H
