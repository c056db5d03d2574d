//===- Picture.h - Pictures of joint functions ------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_REPORT_PICTURE_H
#define FAD_LIB_PIPELINES_REPORT_PICTURE_H

#include "fad/Pipelines/ReportMemory.h"

namespace mlir::fad {

/// The operations of a joint function and its residuals, for drawing.
/// Operations that hold no data, such as constants and sizes, are left out.
struct Picture {
  enum class Kind {
    /// Arguments and results, cotangents and gradients.
    boundary,
    /// Elementwise regions of the forward part, and its other operations.
    region,
    other,
    /// Operations that backward repeats, and those that depend on a cotangent.
    again,
    adjoint,
    /// Residuals that take memory, and those that are live anyway.
    kept,
    free
  };
  static constexpr Kind kKinds[] = {Kind::boundary, Kind::region, Kind::other,
                                    Kind::again,    Kind::adjoint, Kind::kept,
                                    Kind::free};
  struct Node {
    Kind kind;
    /// Lines of text.
    SmallVector<std::string, 2> label;
    /// Details, such as the place in the source.
    std::string tooltip;
  };

  /// The three parts of the picture, from left to right.
  enum class Part { forward, residual, backward };
  Part getPart(unsigned node) const {
    Kind kind = nodes[node].kind;
    if (kind == Kind::kept || kind == Kind::free)
      return Part::residual;
    return node < firstBackward ? Part::forward : Part::backward;
  }

  std::string title;
  /// In the order of execution.
  std::vector<Node> nodes;
  std::vector<std::pair<unsigned, unsigned>> edges;
  /// The number of the first node of backward.
  unsigned firstBackward = 0;
};

/// The fill color of nodes of `kind`, and its meaning.
StringRef getColor(Picture::Kind kind);
StringRef getMeaning(Picture::Kind kind);

/// Draws `joint`, whose residuals have been selected with `options`. May insert
/// operations without effect.
Picture makePicture(const JointFunction &joint,
                    const ExplanationOptions &options,
                    const ArgumentSizes &sizes);

/// Prints `picture` in the language of Graphviz.
void printDot(const Picture &picture, raw_ostream &os);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_REPORT_PICTURE_H
