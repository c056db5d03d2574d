//===- GradientCheck.h - Gradients against finite differences ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_GRADIENTCHECK_H
#define FAD_RUNTIME_GRADIENTCHECK_H

#include "fad/Runtime/NestedFunction.h"

namespace mlir::fad {

/// How the gradient with respect to one argument fared.
struct GradientCheck {
  unsigned argument;
  RankedTensorType type;
  /// Worst error of the gradient in f64, against central differences.
  double differenceError;
  static constexpr double kDifferenceBound = 1e-6;
  /// Worst error of the gradient, against that in f64, and the bound for the
  /// least precise type that it, or what it is computed from, is rounded to.
  double typeError, typeBound;
  /// What cannot be said in numbers, if anything.
  std::string note;

  bool passes() const {
    // In this form NaN does not pass.
    return note.empty() && differenceError <= kDifferenceBound &&
           typeError <= typeBound;
  }
};

/// Checks `gradients` of the only public function of `module`, taken at
/// `arguments` with `cotangents`. Emits an error where the check cannot be
/// made.
///
/// The module is promoted to f64 and differentiated with the same `options`;
/// `nested`, its own pair where that runs on the host, or else null, is taken
/// where all of it is in f64 already.
/// Let f be that function, c the cotangents, g its gradient with respect to an
/// argument x of n elements, and g' the gradient for c with random signs.
///
/// 1. g is compared with differences of f: for directions v of length 1,
///
///      |<c, f(x + hv) - f(x - hv)> / 2h - <g, v>|
///        / max(|g * v|, |g| / sqrt(n), |g'| / sqrt(n), 1e-6 |c * f(x)|)
///
///    where * is elementwise and |.| the Euclidean norm. The denominator is
///    what the terms of <g, v> come to when they do not happen to cancel; its
///    last term is the rounding of f, for functions that do not depend on x.
///    Directions are the axes, for up to 64 elements, and otherwise random
///    signs, the axis of the largest element of g, and random axes. Several
///    steps h are tried and the best agreement counts: one that crosses a kink
///    or is lost in rounding does not make a gradient wrong, while a wrong
///    gradient agrees at none.
/// 2. The gradients given are compared with g: the greatest difference of two
///    elements, relative to the greatest element of g or g', or to the least
///    normal number of the types that are rounded to on the way. An element that
///    is not finite counts as an error if that of g is finite in the element type.
///
/// That the forward function still computes f is checked along the way; it is
/// an error where not.
FailureOr<SmallVector<GradientCheck>>
checkGradients(ModuleOp module, const NestOptions &options,
               const NestedFunction *nested, ArrayRef<HostTensor> arguments,
               ArrayRef<HostTensor> cotangents, ArrayRef<Gradient> gradients);

} // namespace mlir::fad

#endif // FAD_RUNTIME_GRADIENTCHECK_H
