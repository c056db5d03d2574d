//===- Picture.h - Parts of pictures for Graphviz ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_REPORT_PICTURE_H
#define FAD_LIB_PIPELINES_REPORT_PICTURE_H

#include "fad/Pipelines/MemoryReport.h"

namespace mlir::fad {

/// The bytes of values, in the words of pictures.
class PictureSizes {
public:
  explicit PictureSizes(const ArgumentSizes &sizes) : sizes(sizes) {}

  /// The bytes that `value` takes; empty if its type has no known size.
  std::optional<SizeExpr> get(Value value);
  /// Bytes in the largest fitting unit, or as a formula of dynamic sizes.
  std::string describe(const SizeExpr &bytes);
  /// The same of a value, empty without a size.
  std::string describe(Value value);
  /// The same of all residuals that take memory.
  std::string describeSum(const Explanation &explanation);

private:
  const ArgumentSizes &sizes;
  SizeSymbols symbols;
};

/// `text` as a string of DOT.
std::string quoteDot(StringRef text);

/// The lines of DOT that all pictures begin with: the title, fonts and arrows.
std::string getPictureStyle(StringRef title);

/// Whether `op` holds data worth drawing: constants and sizes do not.
bool isDrawn(Operation *op);

/// Whether a residual takes no memory of its own, as arguments and results.
bool isAliveAnyway(const KeptValue &kept);

/// The name of an operation for people. An elementwise operation has that of
/// its function, such as `gelu`, `derivative of gelu` or `exp, tanh and 3
/// more`; `isAdjoint` is whether it depends on a cotangent.
std::string nameOperation(Operation *op, bool isAdjoint);

/// A type without what all types of the picture share: `8x16xf32` for a tensor.
std::string nameType(Type type);

/// Draws one node for all equal residuals of `joint`, between nodes for what
/// computes them and nodes for what reads them.
void drawSummary(const JointFunction &joint, const Explanation &explanation,
                 PictureSizes &sizes, StringRef title, raw_ostream &os);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_REPORT_PICTURE_H
