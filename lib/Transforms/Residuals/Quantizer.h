//===- Quantizer.h - Levels for numbers in few bits -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_QUANTIZER_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_QUANTIZER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::fad {

/// At most `count` levels, ascending, such that the sum over `numbers`, which
/// are sorted, of the squared distance to the nearest level is least. Each of
/// `fixed`, ascending, is a level.
///
/// Numbers are put into bins first, and levels share no bin; so the result is
/// the optimum but for the width of a bin, a fraction of the distance of
/// neighbouring levels.
SmallVector<double> placeLevels(ArrayRef<double> numbers, unsigned count,
                                ArrayRef<double> fixed);

/// Halfway between neighbours: a number is nearest to the level that as many
/// boundaries are below as levels come before it.
SmallVector<double> getBoundaries(ArrayRef<double> levels);

/// How far numbers are from the level that stands for them.
struct QuantizationError {
  /// At most, over the whole range.
  double largest;
  /// The mean of its square over the numbers that the levels were placed for.
  double meanSquare;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_QUANTIZER_H
