//===- ExprTest.cpp - Tests of scalar formulas ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Expr.h"
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
