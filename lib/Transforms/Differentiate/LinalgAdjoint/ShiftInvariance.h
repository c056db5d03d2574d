//===- ShiftInvariance.h - Invariance under shifts --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_SHIFTINVARIANCE_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_SHIFTINVARIANCE_H

#include "mlir/IR/Value.h"

namespace mlir::fad {

/// Whether every value computed from `value`, a tensor, is invariant under the
/// addition of any number to any of its elements, so that its derivative is
/// zero. A softmax, its logarithm and log-sum-exp use the maximum in this way:
/// they subtract it before they take exponentials, only to prevent overflow.
///
/// The analysis follows the added number through the program: a difference with
/// a multiple cancels it, an exponential and sums of exponentials are scaled by
/// it, and a quotient of two values of the same scale loses it. Operations that
/// carry `fad.adjoint_of` are ignored.
bool isInvariantToShift(Value value);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_SHIFTINVARIANCE_H
