//===- Raise.h - Parts of fad-raise -----------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RAISE_RAISE_H
#define FAD_LIB_TRANSFORMS_RAISE_RAISE_H

#include "fad/IR/Spelling.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad::raise {

/// Matches `formula` with the operations that compute the result of `root`, a
/// scalar, vector or ranked tensor of f16, bf16, f32 or f64.
std::optional<FormulaMatch> matchFormula(const Formula &formula,
                                         Operation *root, Shared shared);

/// Adds patterns that replace a value that is spelled so by the operation
/// called `name`, or by what `spelling` builds.
void addRaisePattern(RewritePatternSet &patterns, StringRef name,
                     const Spelling &spelling);

/// Constants rounded to a narrower type.
void populateFoldTruncPatterns(RewritePatternSet &patterns);
/// One canonical form for elementwise operations on tensors.
void populateRaiseLinalgPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad::raise

#endif // FAD_LIB_TRANSFORMS_RAISE_RAISE_H
