//===- ActivationsSigmoid.cpp - Sigmoid and its compositions --------------===//
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

static void populateSigmoid(RewritePatternSet &patterns) {
  Formula x = variable();
  addRaisePattern<SigmoidOp>(patterns,
                             {1 / (1 + exp(-x)), exp(x) / (1 + exp(x)),
                              0.5 * (1 + tanh(0.5 * x)),
                              0.5 * tanh(0.5 * x) + 0.5},
                             Shared::raised, /*benefit=*/2);

  // The first form again, for programs without a value for the negative of the
  // operand of exp.
  addRaisePattern(patterns, {1 / (1 + exp(x))}, Shared::raised,
                  [](OpBuilder &b, Location loc, const FormulaMatch &match) {
                    Value negative =
                        arith::NegFOp::create(b, loc, match.x, match.fastmath);
                    return SigmoidOp::create(b, loc, negative, match.fastmath);
                  });
}

static void populateSilu(RewritePatternSet &patterns) {
  Formula x = variable();
  addRaisePattern<SiluOp>(patterns, {x * sigmoid(x)}, Shared::kept);
  addRaisePattern<SiluOp>(patterns, {x / (1 + exp(-x))}, Shared::raised);
}

static void populateSoftplus(RewritePatternSet &patterns) {
  Formula x = variable(), threshold = parameter();
  auto build = [](OpBuilder &b, Location loc, const FormulaMatch &match) {
    return SoftplusOp::create(b, loc, match.x, /*threshold=*/nullptr,
                              match.fastmath);
  };
  addRaisePattern(patterns, {log1p(exp(x)), log(1 + exp(x))}, Shared::raised,
                  build);
  // Smooth, and NaN for NaN, whichever maximum or minimum is used.
  auto whole = Whole::smooth;
  auto nans = NaNs::keptOrDropped;
  addRaisePattern(patterns, {max(x, 0, nans, whole) + softplus(-abs(x))},
                  Shared::kept, build);
  // log(sigmoid(x)) is -softplus(-x).
  addRaisePattern(patterns, {min(x, 0, nans, whole) - softplus(-abs(x))},
                  Shared::kept,
                  [](OpBuilder &b, Location loc, const FormulaMatch &match) {
                    Value y = arith::NegFOp::create(b, loc, match.x,
                                                    match.fastmath);
                    y = SoftplusOp::create(b, loc, y, /*threshold=*/nullptr,
                                           match.fastmath);
                    return Value(
                        arith::NegFOp::create(b, loc, y, match.fastmath));
                  });

  addRaisePattern(patterns, {select(greater(x, threshold), x, softplus(x))},
                  Shared::kept,
                  [](OpBuilder &b, Location loc, const FormulaMatch &match) {
                    return SoftplusOp::create(
                        b, loc, match.x, b.getF64FloatAttr(match.parameter),
                        match.fastmath);
                  });
}

static void populateMish(RewritePatternSet &patterns) {
  Formula x = variable();
  // Above 20, tanh(softplus(x)) and tanh(x) are both 1 in every type.
  Formula softplus = call<SoftplusOp>(x, [](SoftplusOp op) {
    return !op.getThreshold() || op.getThreshold()->convertToDouble() >= 20;
  });
  addRaisePattern<MishOp>(patterns, {x * tanh(softplus)}, Shared::kept);
}

static void populateExpM1(RewritePatternSet &patterns) {
  Formula x = variable();
  addRaisePattern<math::ExpM1Op>(patterns, {exp(x) - 1}, Shared::kept);
}

void raise::populateRaiseSigmoidPatterns(RewritePatternSet &patterns) {
  populateSigmoid(patterns);
  populateSilu(patterns);
  populateSoftplus(patterns);
  populateMish(patterns);
  populateExpM1(patterns);
}
