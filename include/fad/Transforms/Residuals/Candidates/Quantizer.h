//===- Quantizer.h - Levels for numbers in few bits -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_CANDIDATES_QUANTIZER_H
#define FAD_TRANSFORMS_RESIDUALS_CANDIDATES_QUANTIZER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::fad {

/// At most `count` levels, ascending, that minimize the sum of squared
/// distances of `numbers`, which are sorted, to the nearest level. Each of
/// `fixed`, ascending, is a level.
///
/// Numbers are first put into bins, and no two levels share a bin. So the
/// result is optimal up to the width of a bin, a fraction of the distance of
/// neighboring levels.
SmallVector<double> placeLevels(ArrayRef<double> numbers, unsigned count,
                                ArrayRef<double> fixed);

/// The midpoints of neighboring levels. The number of midpoints below a number
/// is the index of its nearest level.
SmallVector<double> getBoundaries(ArrayRef<double> levels);

/// The distance of numbers to their level.
struct QuantizationError {
  /// The maximum over the whole range.
  double largest;
  /// The mean square over the numbers for which the levels were computed.
  double meanSquare;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_CANDIDATES_QUANTIZER_H
