//===- DerivativeParts.h - What only backward needs -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_DERIVATIVEPARTS_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_DERIVATIVEPARTS_H

#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir {
class RewriterBase;

namespace fad {

/// Gives what depends on no cotangent, but only backward needs, the form that
/// `fad-differentiate` gives to derivatives: an `fad.elementwise` marked with
/// `fad.adjoint_of` that computes them from what the forward part has.
void separateDerivatives(RewriterBase &rewriter, const JointFunction &joint);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_DERIVATIVEPARTS_H
