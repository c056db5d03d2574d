//===- Coefficients.h - Slices as cotangent times coefficient ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_COEFFICIENTS_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_COEFFICIENTS_H

#include "Slices.h"

namespace mlir {
class RewriterBase;

namespace fad {

/// Rewrites `slice` as a sum of cotangents, each times a coefficient: what the
/// slice computes where that cotangent is 1 and the others are 0. Coefficients
/// are computed by an `fad.elementwise` that reads no cotangent.
///
/// Leaves a slice alone that reads its coefficients as they are, or where they
/// would take more bytes than the tensors that they are computed from.
void factorSlice(RewriterBase &rewriter, const Slice &slice,
                 const Linearity &linearity);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_COEFFICIENTS_H
