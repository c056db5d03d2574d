//===- ActivationsGelu.cpp - The Gaussian error linear unit ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::raise;

template <GeluApproximation approximation>
static Value buildGelu(OpBuilder &b, Location loc, const FormulaMatch &match) {
  return GeluOp::create(b, loc, match.x, approximation, match.fastmath);
}

void raise::populateRaiseGeluPatterns(RewritePatternSet &patterns) {
  Formula x = variable();
  addRaisePattern(
      patterns,
      {0.5 * x * (1 + erf(M_SQRT1_2 * x)), 0.5 * x * erfc(-M_SQRT1_2 * x)},
      Shared::raised, buildGelu<GeluApproximation::none>);

  // 0.5 * (1 + tanh(u)) is sigmoid(2u).
  double scale = std::sqrt(2 / M_PI);
  Formula cubic = x + 0.044715 * x * x * x;
  Formula quadratic = 1 + 0.044715 * x * x;
  addRaisePattern(patterns,
                  {0.5 * x * (1 + tanh(scale * cubic)),
                   0.5 * x * (1 + tanh(scale * x * quadratic)),
                   x / (1 + exp(-2 * scale * cubic)),
                   x / (1 + exp(-2 * scale * x * quadratic))},
                  Shared::raised, buildGelu<GeluApproximation::tanh>);
  addRaisePattern(
      patterns,
      {x * sigmoid(2 * scale * cubic), x * sigmoid(2 * scale * x * quadratic)},
      Shared::kept, buildGelu<GeluApproximation::tanh>);
}
