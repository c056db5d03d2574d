//===- ShiftInvariance.h - Values that cancel -------------------*- C++ -*-===//
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

/// Whether nothing that is computed from `value`, a tensor, changes when any
/// number is added to any of its elements: its derivative is zero then. It is
/// how a softmax, its logarithm and log-sum-exp use the maximum that they
/// subtract before they take exponentials, which only keeps these from
/// overflowing.
///
/// A number that is added to an element is followed through the program: it is
/// added to a difference with a multiple, it scales an exponential and a sum of
/// such, it is gone from a quotient of two that are scaled alike. Operations
/// that carry `fad.adjoint_of` are not looked at.
bool isInvariantToShift(Value value);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_LINALGADJOINT_SHIFTINVARIANCE_H
