//===- LinearRegions.h - Linear regions of a backward part -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_JOINT_LINEARREGIONS_H
#define FAD_LIB_TRANSFORMS_JOINT_LINEARREGIONS_H

#include "fad/IR/Fad.h"
#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir::fad {
class Linearity;

/// Whether `op` is an `fad.elementwise`, or a `linalg.generic` that computes
/// each element of its results from one element of each operand, by scalar
/// operations without side effects.
bool isElementwiseForm(Operation *op);

/// The indexing map of `operand` in its owner, which has elementwise form.
AffineMap getReadMap(OpOperand &operand);

/// The scalar body of `op`, of elementwise form.
Block &getScalarBody(Operation *op);

/// Elementwise operations of the backward part, linear in the cotangents, in
/// program order. Only results of the last one, the sink, have other users.
using LinearRegion = SmallVector<Operation *>;

/// The linear regions of `joint`, in program order: the largest ones of which
/// all factors may be multiplied first. A value with users in several regions,
/// or outside of regions, is a result of its own region.
SmallVector<LinearRegion> findLinearRegions(const JointFunction &joint,
                                            const Linearity &linearity,
                                            Reassociation reassociation);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_JOINT_LINEARREGIONS_H
