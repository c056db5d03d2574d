//===- Slices.h - Elementwise slices of a backward part ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_SLICES_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_SLICES_H

#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir::fad {
class Linearity;

/// Whether `op` is an `fad.elementwise`, or a `linalg.generic` that computes
/// each element of its results from one element of each operand, by scalar
/// operations without side effects.
bool isElementwiseForm(Operation *op);

/// How `op`, of elementwise form, reads `operand`.
AffineMap getReadMap(OpOperand &operand);

/// The scalar body of `op`, of elementwise form.
Block &getScalarBody(Operation *op);

/// An elementwise part of the backward part, in program order: only results of
/// the last operation are read elsewhere.
using Slice = SmallVector<Operation *>;

/// The maximal slices of `joint`, in program order. What two of them read, or
/// one of them and something else, ends a slice of its own.
SmallVector<Slice> findSlices(const JointFunction &joint,
                              const Linearity &linearity);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_SLICES_H
