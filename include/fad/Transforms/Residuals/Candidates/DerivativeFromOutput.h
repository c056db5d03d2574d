//===- DerivativeFromOutput.h - Derivatives from results --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_CANDIDATES_DERIVATIVEFROMOUTPUT_H
#define FAD_TRANSFORMS_RESIDUALS_CANDIDATES_DERIVATIVEFROMOUTPUT_H

#include "fad/Transforms/Residuals/Candidates/Quantizer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>

namespace mlir::fad {
class JointFunction;
class ScalarFunction;

/// A derivative as a function of the activation's result, for an activation
/// with one minimum: on either side of it, the result determines the argument.
/// Near the minimum the derivative is proportional to s, the square root of the
/// distance from it, so a polynomial in s is a good approximation.
struct DerivativeFromOutput {
  /// One side of the minimum.
  struct Side {
    /// The derivative is at its limit for larger s.
    double largest;
    /// The polynomial in 2 s / largest - 1, from the constant on.
    SmallVector<double> coefficients;

    double evaluate(double s) const;
  };

  /// The argument and the value of the minimum.
  double argument, minimum;
  Side left, right;
  /// The error of the derivative, with the result rounded.
  QuantizationError error;

  double evaluate(bool isRight, double output) const;
};

/// The form in which results of `activation`, rounded to `type`, determine
/// `derivative`, both functions of one argument; `nullopt` if there is no
/// single minimum, or no polynomial of moderate degree is close.
std::optional<DerivativeFromOutput>
findDerivativeFromOutput(ScalarFunction &activation, ScalarFunction &derivative,
                         FloatType type);

/// The reason for keeping the operands of an operation that computes such a
/// derivative.
struct DerivativeFromOutputReason {
  std::string text;
  QuantizationError error;
};
using DerivativeFromOutputReasons =
    llvm::DenseMap<Operation *, DerivativeFromOutputReason>;

/// Turns each derivative in the forward part of `joint` that has such a form
/// into one of two alternatives; the other is computed from the result and a
/// tensor of i1, the side of the minimum.
DerivativeFromOutputReasons
addDerivativesFromOutput(const JointFunction &joint);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_CANDIDATES_DERIVATIVEFROMOUTPUT_H
