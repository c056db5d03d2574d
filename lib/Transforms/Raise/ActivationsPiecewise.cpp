//===- ActivationsPiecewise.cpp - Rectifiers and their relatives ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formula.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::raise;

// A select that defines the value at 0, where these functions have no
// derivative, is raised only if the primitive agrees.

static void populateRelu(RewritePatternSet &patterns) {
  Formula x = variable();
  addRaisePattern<ReluOp>(patterns,
                          {maximum(x, 0), select(greater(x, 0).orNaN(), x, 0)},
                          Shared::raised);
}

static void populateLeakyRelu(RewritePatternSet &patterns) {
  Formula x = variable(), slope = parameter();
  addRaisePattern(
      patterns,
      {select(greater(x, 0), x, slope * x), max(x, 0) + slope * min(x, 0)},
      Shared::raised,
      [](OpBuilder &b, Location loc, const FormulaMatch &match) {
        return LeakyReluOp::create(b, loc, match.x, APFloat(match.parameter),
                                   match.fastmath);
      });
}

static void populateElu(RewritePatternSet &patterns) {
  Formula x = variable(), alpha = parameter();
  // Programs that differentiate both branches keep exp from overflowing in the
  // one not taken.
  Formula below = either({x, min(x, 0)});
  addRaisePattern(
      patterns,
      {select(greater(x, 0), x, alpha * expm1(below)),
       // Differentiable at 0, where both branches are 0.
       select(greater(x, 0).eitherWhenEqual(), x, expm1(below)),
       max(x, 0) + alpha * expm1(min(x, 0))},
      Shared::kept, [](OpBuilder &b, Location loc, const FormulaMatch &match) {
        return EluOp::create(b, loc, match.x, APFloat(match.parameter),
                             match.fastmath);
      });
}

static void populateHardSwish(RewritePatternSet &patterns) {
  Formula x = variable();
  addRaisePattern<HardSigmoidOp>(patterns, {clamp(x + 3, 0, 6) / 6},
                                 Shared::raised);
  // Multiplied by x, a NaN that clamp drops is NaN all the same.
  addRaisePattern<HardSwishOp>(
      patterns,
      {x * clamp(x + 3, 0, 6, NaNs::keptOrDropped) / 6,
       x * call<HardSigmoidOp>(x),
       select(greater(x, -3).orNaN(),
              select(less(x, 3), x * (x + 3) / 6, x), 0 * x)},
      Shared::kept);
}

void raise::populateRaisePiecewisePatterns(RewritePatternSet &patterns) {
  populateRelu(patterns);
  populateLeakyRelu(patterns);
  populateElu(patterns);
  populateHardSwish(patterns);
}
