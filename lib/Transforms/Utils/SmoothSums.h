//===- SmoothSums.h - Kinks that cancel -------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_UTILS_SMOOTHSUMS_H
#define FAD_LIB_TRANSFORMS_UTILS_SMOOTHSUMS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {

/// Adds patterns for log(exp(a) + exp(b)), which is smooth, as
/// `max(a, b) + log1p(exp(-|a - b|))`, and for its like with a minimum and a
/// difference: a maximum that is a comparison and a select becomes
/// `arith.maximumf`, of which equal numbers share the derivative, as that of the
/// other term has it at 0. No value changes: where an operand is NaN, the sum is.
void populateSmoothSumPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_UTILS_SMOOTHSUMS_H
