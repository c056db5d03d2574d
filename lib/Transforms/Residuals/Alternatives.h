//===- Alternatives.h - Choose how values are computed ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_ALTERNATIVES_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_ALTERNATIVES_H

#include "mlir/IR/Value.h"

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
/// its operands, so that the least residuals cost the fewest bytes, then the
/// least time.
///
/// Which operand is best depends on what the others are: the choice is exact
/// where one operand needs no more than another one does, or nothing that is
/// not kept for other readers. What is left falls apart into components that
/// have no candidates in common; small ones are searched exactly, larger ones
/// are improved one operand at a time until none helps.
void chooseAlternatives(const JointFunction &joint, CostModel &costs);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_ALTERNATIVES_H
