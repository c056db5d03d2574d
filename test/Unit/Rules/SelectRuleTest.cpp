//===- SelectRuleTest.cpp - Tests of the partials of arith.select ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Forward mode chooses between tangents, so that no test of a pass reads the
// partial derivatives.
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Rules/Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fad;

TEST(SelectRule, PartialsAreMasks) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect>();
  registerArithRules(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
      %z = arith.select %c, %x, %y : f32
      return %z : f32
    }
  )mlir",
                                            &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto op = *function.getOps<arith::SelectOp>().begin();
  OpBuilder builder(op);
  ExprBuilder eb(builder, op.getLoc(), builder.getF32Type());
  Expr operands[] = {Expr(eb, op.getCondition()), Expr(eb, op.getTrueValue()),
                     Expr(eb, op.getFalseValue())};
  Expr results[] = {Expr(eb, op.getResult())};
  Primal at{eb, operands, results};
  auto rule = cast<DerivativeOpInterface>(op.getOperation());

  EXPECT_FALSE(rule.partial(at, 0, 0));
  for (unsigned operand : {1, 2}) {
    Expr partial = rule.partial(at, 0, operand);
    ASSERT_TRUE(partial.getValue());
    auto mask = partial.getValue().getDefiningOp<arith::SelectOp>();
    ASSERT_TRUE(mask);
    EXPECT_EQ(mask.getCondition(), op.getCondition());
    Expr ifTrue = viewConstant(Expr(eb, mask.getTrueValue()));
    Expr ifFalse = viewConstant(Expr(eb, mask.getFalseValue()));
    EXPECT_TRUE(ifTrue.isConstant(operand == 1));
    EXPECT_TRUE(ifFalse.isConstant(operand == 2));
  }
}
