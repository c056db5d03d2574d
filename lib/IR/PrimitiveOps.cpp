//===- PrimitiveOps.cpp - Folders of the activation primitives ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "mlir/Dialect/CommonFolders.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

/// Folds a constant operand by evaluating `function` in double precision and
/// rounding once to the type of the operand.
static OpFoldResult foldUnary(ArrayRef<Attribute> operands,
                              llvm::function_ref<double(double)> function) {
  return constFoldUnaryOp<FloatAttr, FloatAttr::ValueType, void>(
      operands, [&](const APFloat &x) {
        APFloat y(function(x.convertToDouble()));
        bool losesInfo;
        y.convert(x.getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
        return y;
      });
}

static double sigmoid(double x) {
  double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

static double softplus(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

/// min(max(x + 3, 0), 6) / 6, with NaN kept.
static double hardsigmoid(double x) {
  if (x <= -3)
    return 0;
  return x >= 3 ? 1 : (x + 3) / 6;
}

OpFoldResult SigmoidOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperands(), sigmoid);
}

OpFoldResult SoftplusOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperands(), [&](double x) {
    if (getThreshold() && x > getThreshold()->convertToDouble())
      return x;
    return std::isnan(x) ? x : softplus(x);
  });
}

OpFoldResult ReluOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<ReluOp>())
    return getOperand();
  return foldUnary(adaptor.getOperands(),
                   [](double x) { return x <= 0 ? 0.0 : x; });
}

OpFoldResult LeakyReluOp::fold(FoldAdaptor adaptor) {
  double slope = getSlope().convertToDouble();
  if (slope == 1)
    return getOperand();
  return foldUnary(adaptor.getOperands(),
                   [&](double x) { return x > 0 ? x : slope * x; });
}

OpFoldResult EluOp::fold(FoldAdaptor adaptor) {
  double alpha = getAlpha().convertToDouble();
  return foldUnary(adaptor.getOperands(),
                   [&](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}

OpFoldResult SiluOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperands(),
                   [](double x) { return x * sigmoid(x); });
}

OpFoldResult GeluOp::fold(FoldAdaptor adaptor) {
  if (getApproximate() == GeluApproximation::none)
    return foldUnary(adaptor.getOperands(), [](double x) {
      return x * std::erfc(-x * M_SQRT1_2) / 2;
    });
  return foldUnary(adaptor.getOperands(), [](double x) {
    double u = std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x);
    return x * sigmoid(2 * u);
  });
}

OpFoldResult MishOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperands(), [](double x) {
    return std::isnan(x) ? x : x * std::tanh(softplus(x));
  });
}

OpFoldResult HardSigmoidOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperands(), hardsigmoid);
}

OpFoldResult HardSwishOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperands(),
                   [](double x) { return x * hardsigmoid(x); });
}
