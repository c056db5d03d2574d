//===- SmoothSums.h - Kinks that cancel -------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_UTILS_SMOOTHSUMS_H
#define FAD_TRANSFORMS_UTILS_SMOOTHSUMS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {

/// Adds patterns for log(exp(a) + exp(b)), which is smooth, as
/// `max(a, b) + log1p(exp(-|a - b|))`, and for the like with a minimum and a
/// difference: a maximum spelled as comparison and select becomes
/// `arith.maximumf`, whose equal operands share the derivative, as the
/// derivative of the other term at 0 requires. Values are unchanged: if an
/// operand is NaN, so is the sum.
void populateSmoothSumPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_UTILS_SMOOTHSUMS_H
