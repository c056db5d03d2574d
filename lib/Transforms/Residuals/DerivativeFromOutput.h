//===- DerivativeFromOutput.h - Derivatives from results --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_DERIVATIVEFROMOUTPUT_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_DERIVATIVEFROMOUTPUT_H

#include "Quantizer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>

namespace mlir::fad {
class JointFunction;
class ScalarFunction;

/// A derivative as a function of what the activation gives, for an activation
/// with one minimum: on either side of that, its argument follows from it. Near
/// the minimum the derivative goes like s, the square root of the distance from
/// it, so that it is a polynomial in s to good approximation.
struct DerivativeFromOutput {
  /// One side of the minimum.
  struct Side {
    /// Beyond it, the derivative is at its limit.
    double largest;
    /// The polynomial in 2 s / largest - 1, from the constant on.
    SmallVector<double> coefficients;

    double evaluate(double s) const;
  };

  /// Where the minimum is, and what it is.
  double argument, minimum;
  Side left, right;
  /// Of the derivative from the result after its rounding.
  QuantizationError error;

  double evaluate(bool isRight, double output) const;
};

/// The form in which `derivative` is computed from results of `activation`,
/// which are rounded to `type`, both functions of one argument; `nullopt` where
/// there is no single minimum, or no polynomial of moderate degree is close.
std::optional<DerivativeFromOutput> findDerivativeFromOutput(ScalarFunction &activation,
                                         ScalarFunction &derivative,
                                         FloatType type);

/// Why operands of an operation that computes a derivative so are kept.
struct DerivativeFromOutputReason {
  std::string text;
  QuantizationError error;
};
using DerivativeFromOutputReasons = llvm::DenseMap<Operation *, DerivativeFromOutputReason>;

/// Makes each derivative in the forward part of `joint` that has such a form
/// one of two alternatives, of which the other is computed from the result and
/// a tensor of i1, the side of the minimum.
DerivativeFromOutputReasons addDerivativesFromOutput(const JointFunction &joint);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_DERIVATIVEFROMOUTPUT_H
