//===- ConversionUtils.h - Helpers of the conversions -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CONVERSION_CONVERSIONUTILS_H
#define FAD_LIB_CONVERSION_CONVERSIONUTILS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::fad {

/// Adds the pattern that lowers fad.scatter_add, to a loop or to reductions.
void populateScatterAddPatterns(RewritePatternSet &patterns, bool asReductions);

/// Adds the patterns that lower fad.pack and fad.unpack.
void populatePackPatterns(RewritePatternSet &patterns);

/// Adds the pattern that writes scf.index_switch on tensors with scf.if.
void populateSwitchPatterns(RewritePatternSet &patterns);

/// Adds the pattern that sums products with a broadcast factor in two steps,
/// for IREE.
void populateSplitSumPatterns(RewritePatternSet &patterns);

/// Copies what operations under `root` would write to in the memory of an
/// argument, for IREE, which takes arguments for its own: other functions that
/// have the same argument, and its caller, would see what was written. Emits an
/// error where it cannot be copied.
LogicalResult copyWrittenArguments(Operation *root);

/// Emits an error for a truncation below `root` that rounds in another way than
/// to the nearest, ties to even. LLVM assumes the way that it is told, and does
/// not choose it.
LogicalResult checkRoundings(Operation *root);

/// A tensor of `type` to be overwritten, with its dynamic sizes taken from
/// `source`, a tensor of a compatible shape.
Value createEmptyLike(OpBuilder &builder, Location loc, RankedTensorType type,
                      Value source);

} // namespace mlir::fad

#endif // FAD_LIB_CONVERSION_CONVERSIONUTILS_H
