//===- ExprTest.cpp - Tests of scalar formulas ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Rules/ScalarRules.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

namespace {
/// A block with one argument `x`, at whose end expressions emit operations.
class ExprTest : public testing::Test {
protected:
  ExprTest() : module(makeModule(context)), builder(&context) {
    Block *body = module->getBody();
    builder.setInsertionPointToEnd(body);
    type = builder.getF32Type();
    value = arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                      builder.getF32FloatAttr(2));
    unknown = arith::NegFOp::create(builder, builder.getUnknownLoc(), value);
    eb.emplace(builder, builder.getUnknownLoc(), type);
    x = Expr(*eb, unknown);
  }

  static OwningOpRef<ModuleOp> makeModule(MLIRContext &context) {
    context.loadDialect<arith::ArithDialect, math::MathDialect>();
    return ModuleOp::create(UnknownLoc::get(&context));
  }

  /// How many operations were emitted since construction.
  size_t emitted() { return module->getBody()->getOperations().size() - 2; }

  template <typename OpTy> bool isA(const Expr &expr) {
    return expr.getValue() && expr.getValue().getDefiningOp<OpTy>();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  Type type;
  Value value, unknown;
  std::optional<ExprBuilder> eb;
  Expr x;
};

// Rules have such names, which fad leaves to them.
struct Normal {};
struct Sigmoid {};
static_assert(std::is_empty_v<Normal> && std::is_empty_v<Sigmoid>);
} // namespace

TEST_F(ExprTest, ConstantsFold) {
  Expr two = 2;
  EXPECT_TRUE((two * 3 - 1).isConstant(5));
  EXPECT_TRUE((two / 4 + 0.5).isConstant(1));
  EXPECT_TRUE((-two).isConstant(-2));
  EXPECT_TRUE(exp(log(two)).isConstant(std::exp(std::log(2.0))));
  EXPECT_TRUE(max(two, 3).isConstant(3));
  EXPECT_TRUE(min(two, 3).isConstant(2));
  EXPECT_TRUE(pow(two, 10).isConstant(1024));
  EXPECT_TRUE(fma(two, 3, 4).isConstant(10));
  EXPECT_TRUE(rem(7, two).isConstant(1));
  EXPECT_TRUE(roundeven(Expr(2.5)).isConstant(2));
  EXPECT_TRUE(select(two < 3, 1, 0).isConstant(1));
  EXPECT_TRUE(select((two > 3) | (two >= 2), 1, 0).isConstant(1));
  EXPECT_TRUE(select((two > 3) & (two >= 2), 1, 0).isConstant(0));
  EXPECT_EQ(emitted(), 0u);
}

// Each function of the dialect math has its name: it emits the operation, or is
// the function of C++ on a constant.
TEST_F(ExprTest, FunctionsOfMath) {
  using OfExpr = Expr (*)(const Expr &);
  using OfDouble = double (*)(double);
  std::tuple<StringRef, OfExpr, OfDouble> functions[] = {
      {"absf", fad::abs, std::fabs},
      {"acos", fad::acos, std::acos},
      {"acosh", fad::acosh, std::acosh},
      {"asin", fad::asin, std::asin},
      {"asinh", fad::asinh, std::asinh},
      {"atan", fad::atan, std::atan},
      {"atanh", fad::atanh, std::atanh},
      {"cbrt", fad::cbrt, std::cbrt},
      {"ceil", fad::ceil, std::ceil},
      {"cos", fad::cos, std::cos},
      {"cosh", fad::cosh, std::cosh},
      {"erf", fad::erf, std::erf},
      {"erfc", fad::erfc, std::erfc},
      {"exp", fad::exp, std::exp},
      {"exp2", fad::exp2, std::exp2},
      {"expm1", fad::expm1, std::expm1},
      {"floor", fad::floor, std::floor},
      {"log", fad::log, std::log},
      {"log10", fad::log10, std::log10},
      {"log1p", fad::log1p, std::log1p},
      {"log2", fad::log2, std::log2},
      {"round", fad::round, std::round},
      {"roundeven", fad::roundeven, std::nearbyint},
      {"sin", fad::sin, std::sin},
      {"sinh", fad::sinh, std::sinh},
      {"sqrt", fad::sqrt, std::sqrt},
      {"tan", fad::tan, std::tan},
      {"tanh", fad::tanh, std::tanh},
      {"trunc", fad::trunc, std::trunc},
  };
  for (auto [name, ofExpr, ofDouble] : functions) {
    // Where the functions differ, and all but acosh are defined.
    double at = name == "acosh" ? 1.5 : 0.625;
    EXPECT_TRUE(ofExpr(at).isConstant(ofDouble(at))) << name.str();
    Operation *op = ofExpr(x).getValue().getDefiningOp();
    EXPECT_EQ(op->getName().getStringRef(), ("math." + name).str());
    EXPECT_EQ(op->getOperand(0), unknown);
  }
  EXPECT_TRUE(atan2(1, Expr(2)).isConstant(std::atan2(1.0, 2.0)));
  auto angle = atan2(x, 1).getValue().getDefiningOp<math::Atan2Op>();
  ASSERT_TRUE(angle);
  EXPECT_EQ(angle.getLhs(), unknown);
}

TEST_F(ExprTest, SigmoidIsAccurateOnBothSides) {
  for (double at : {-800.0, -40.0, -1.0, 0.0, 2.0, 40.0, 800.0}) {
    double expected =
        at < 0 ? std::exp(at) / (1 + std::exp(at)) : 1 / (1 + std::exp(-at));
    Expr found = sigmoid(at);
    ASSERT_TRUE(found.isConstant()) << at;
    EXPECT_DOUBLE_EQ(found.getConstant(), expected);
  }
}

TEST_F(ExprTest, NeutralAndZeroOperandsEmitNothing) {
  EXPECT_EQ((x + 0).getValue(), unknown);
  EXPECT_EQ((1 * x).getValue(), unknown);
  EXPECT_EQ((x / 1).getValue(), unknown);
  EXPECT_EQ(pow(x, 1).getValue(), unknown);
  EXPECT_EQ(select(x < 0, x, x).getValue(), unknown);
  EXPECT_TRUE((x * 0).isConstant(0));
  EXPECT_TRUE((0 / x).isConstant(0));
  EXPECT_TRUE(pow(x, 0).isConstant(1));
  EXPECT_EQ(fma(0, x, x).getValue(), unknown);
  EXPECT_EQ(convert(x, type).getValue(), unknown);
  EXPECT_TRUE(convert(Expr(3), type).isConstant(3));
  // The comparison alone.
  EXPECT_EQ(emitted(), 2u);
}

TEST_F(ExprTest, ConstantsTakeTheTypeOfTheirPartner) {
  auto vector = VectorType::get({4}, builder.getF64Type());
  Value splat = arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                          builder.getZeroAttr(vector));
  Expr sum = Expr(*eb, splat) + 1;
  EXPECT_EQ(sum.getValue().getType(), vector);
}

TEST_F(ExprTest, ViewConstantSeesThroughExtension) {
  EXPECT_TRUE(viewConstant(Expr(*eb, value)).isConstant(2));
  EXPECT_FALSE(viewConstant(x).isConstant());
  Expr wide = convert(Expr(*eb, value), builder.getF64Type());
  EXPECT_TRUE(viewConstant(wide).isConstant(2));
  EXPECT_FALSE(viewConstant(Expr()));
}

TEST_F(ExprTest, TangentProductKeepsChosenZeros) {
  Expr masked = select(x > 0, 0, x);
  Expr product = tangentProduct(x, masked);
  ASSERT_TRUE(isA<arith::SelectOp>(product));
  auto op = product.getValue().getDefiningOp<arith::SelectOp>();
  EXPECT_TRUE(viewConstant(Expr(*eb, op.getTrueValue())).isConstant(0));
  EXPECT_TRUE(isA<arith::MulFOp>(Expr(*eb, op.getFalseValue())));

  EXPECT_TRUE(isA<arith::SelectOp>(tangentProduct(masked, x)));
  EXPECT_TRUE(isA<arith::MulFOp>(tangentProduct(x, x)));
  EXPECT_TRUE(tangentProduct(0, x).isConstant(0));
}
