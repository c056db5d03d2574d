//===- Coefficients.h - Cotangents times coefficients -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_JOINT_COEFFICIENTS_H
#define FAD_LIB_TRANSFORMS_JOINT_COEFFICIENTS_H

#include "LinearRegions.h"

namespace mlir {
class RewriterBase;

namespace fad {

/// Rewrites `region` as a sum of cotangents, each times a coefficient: the
/// value of the region where that cotangent is 1 and the others are 0. An
/// `fad.elementwise` that reads no cotangent computes the coefficients.
///
/// A region stays as it is if it reads its coefficients already, or if these
/// would take more bytes than their operands.
void factorRegion(RewriterBase &rewriter, const LinearRegion &region,
                  const Linearity &linearity);

/// Rewrites values that only backward reads, but that depend on no cotangent,
/// to the form of the derivatives of `fad-differentiate`: an `fad.elementwise`
/// with `fad.adjoint_of` that computes them from values of the forward part.
void separateDerivatives(RewriterBase &rewriter, const JointFunction &joint);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_JOINT_COEFFICIENTS_H
