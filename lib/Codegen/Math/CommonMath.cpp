//===- CommonMath.cpp - Formulas for CPUs and GPUs ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Math/CommonMath.h"
#include "fad/Codegen/Math/Bits.h"
#include "fad/Interfaces/Formulas.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

Polynomial fad::getPolynomial(Fit function, Precision precision) {
#define FAD_POLYNOMIAL(name, digits, error, scale, ...)                        \
  if (function == Fit::name && precision == Precision::digits) {               \
    static constexpr float coefficients[] = {__VA_ARGS__};                     \
    return {coefficients, scale};                                              \
  }
#include "Polynomials.def"
  llvm_unreachable("there is no other polynomial");
}

Expr fad::evaluatePolynomial(ArrayRef<float> coefficients, const Expr &x,
                             double factor) {
  Expr sum = factor * coefficients.back();
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, factor * coefficient);
  return sum;
}

Expr fad::powerOfShifted(const Expr &shifted) {
  ExprBuilder &eb = *shifted.getBuilder();
  Value bits = toBits(eb.b, shifted.getValue());
  return {eb, fromBits(eb.b, combine<arith::ShLIOp>(eb.b, bits, 23))};
}

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

Expr fad::erfOfSmall(const Expr &x) {
  Expr s = square(x);
  return x * fma(evaluatePolynomial(Fit::erf, s), s, M_2_SQRTPI);
}

Expr fad::erfFromComplement(const Expr &x, const Expr &complement) {
  Expr small = erfOfSmall(x);
  Expr large = copysign(1 - complement, x);
  return select(abs(x) < 0.5, small, large);
}

Expr fad::erfcOfLarge(const Expr &x, const Expr &density,
                      const Polynomial &polynomial, double factor,
                      llvm::function_ref<Expr(const Expr &)> reciprocal) {
  Multiple multiple = matchMultiple(x).value_or(Multiple{x, 1});
  Expr t = reciprocal(fma(multiple.x, multiple.factor * polynomial.scale, 1));
  return density * (evaluatePolynomial(polynomial.coefficients, t, factor) * t);
}

Expr fad::tanhFromLarge(const Expr &x, const Expr &size, const Expr &large) {
  Expr s = square(x);
  Expr small = fma(evaluatePolynomial(Fit::tanh, s) * s, size, size);
  return copysign(select(size < 0.625, small, large), x);
}
