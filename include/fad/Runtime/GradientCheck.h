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

/// The errors of the gradient with respect to one argument.
struct GradientCheck {
  unsigned argument;
  RankedTensorType type;
  /// Largest error of the gradient in f64, against central differences.
  double differenceError;
  static constexpr double kDifferenceBound = 1e-6;
  /// Largest error of the gradient, against that in f64, and its bound for the
  /// least precise type to which the gradient, or a value it is computed from,
  /// is rounded.
  double typeError, typeBound;
  /// An error that is no number, if any.
  std::string note;

  bool passes() const {
    // A NaN fails this comparison.
    return note.empty() && differenceError <= kDifferenceBound &&
           typeError <= typeBound;
  }
};

/// Checks `gradients` of the only public function of `module`, computed at
/// `arguments` with `cotangents`. Emits an error if the check is impossible.
///
/// The module is promoted to f64 and differentiated with the same `options`. If
/// all of it is in f64 already, `nested`, its own compiled pair on the host, or
/// null, replaces this. Let f be that function, c the cotangents, g its
/// gradient with respect to an argument x of n elements, and g' the gradient
/// for c with random signs.
///
/// 1. g is compared with differences of f: for directions v of length 1,
///
///      |<c, f(x + hv) - f(x - hv)> / 2h - <g, v>|
///        / max(|g * v|, |g| / sqrt(n), |g'| / sqrt(n), 1e-6 |c * f(x)|)
///
///    where * is elementwise and |.| the Euclidean norm. The denominator is the
///    size of <g, v> if its terms do not happen to cancel; its last term is the
///    rounding of f, for functions that do not depend on x. Directions are the
///    axes, for up to 64 elements, and otherwise random signs, the axis of the
///    largest element of g, and random axes. The best agreement among several
///    steps h counts: steps across a kink or into rounding errors do not make a
///    gradient wrong, while a wrong gradient agrees at none.
/// 2. The given gradients are compared with g: the greatest difference of two
///    elements, relative to the greatest element of g or g', or to the least
///    normal number of the types that values are rounded to. An element that is
///    not finite is an error if that of g is finite in the element type.
///
/// The check also verifies that the forward function computes f, and emits an
/// error otherwise.
FailureOr<SmallVector<GradientCheck>>
checkGradients(ModuleOp module, const NestOptions &options,
               const NestedFunction *nested, ArrayRef<HostTensor> arguments,
               ArrayRef<HostTensor> cotangents, ArrayRef<Gradient> gradients);

} // namespace mlir::fad

#endif // FAD_RUNTIME_GRADIENTCHECK_H
