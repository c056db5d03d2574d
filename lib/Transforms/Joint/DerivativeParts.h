//===- DerivativeParts.h - Values that only backward reads ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_JOINT_DERIVATIVEPARTS_H
#define FAD_LIB_TRANSFORMS_JOINT_DERIVATIVEPARTS_H

#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir {
class RewriterBase;

namespace fad {

/// Rewrites values that only backward reads, but that depend on no cotangent,
/// to the form of the derivatives of `fad-differentiate`: an `fad.elementwise`
/// with `fad.adjoint_of` that computes them from values of the forward part.
void separateDerivatives(RewriterBase &rewriter, const JointFunction &joint);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_JOINT_DERIVATIVEPARTS_H
