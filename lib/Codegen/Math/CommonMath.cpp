//===- CommonMath.cpp - Formulas for CPUs and GPUs ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonMath.h"
#include "fad/Interfaces/Formulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fad;

std::optional<Multiple> fad::matchMultiple(const Expr &product) {
  auto op = product.getValue().getDefiningOp<arith::MulFOp>();
  if (!op)
    return std::nullopt;
  ExprBuilder &eb = *product.getBuilder();
  Value operands[] = {op.getLhs(), op.getRhs()};
  for (int i : {0, 1}) {
    Expr constant = viewConstant(Expr(eb, operands[i]));
    if (constant.isConstant())
      return Multiple{Expr(eb, operands[1 - i]), constant.getConstant()};
  }
  return std::nullopt;
}

Expr fad::gaussianOf(const Expr &x) {
  auto [root, factor] = matchMultiple(x).value_or(Multiple{x, 1});
  double power = std::exp2(std::round(2 * std::log2(std::abs(factor))));
  // As near as a number of f32 comes to the root.
  bool isRoot = std::abs(factor) == static_cast<float>(std::sqrt(power));
  if (!isRoot || power < 0x1p-16 || power > 0x1p16)
    return gaussian(x, 1);
  return gaussian(root, power);
}
