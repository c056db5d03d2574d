//===- Wave.cpp - A dialect that fad does not know ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wave.h"
#include "fad/Rules/ScalarRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace wave;

#include "WaveDialect.cpp.inc"
#define GET_OP_CLASSES
#include "WaveOps.cpp.inc"

void WaveDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "WaveOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

// sin(x^2)' = 2 x cos(x^2)
fad::Expr ChirpOp::partial(const fad::Primal &at, unsigned, unsigned) {
  fad::Expr x = at.operands[0];
  return 2 * x * cos(square(x));
}

namespace {
// (x + sin(f x)^2 / f)' = 1 + sin(2 f x). This rule is attached from outside,
// as for the operations of a dialect that one cannot change.
struct Snake : fad::UnaryRule<Snake, SnakeOp> {
  static fad::Expr d(SnakeOp op, fad::Expr x) {
    return 1 + sin(2 * op.getFrequency().convertToDouble() * x);
  }
};
} // namespace

void wave::registerWave(DialectRegistry &registry) {
  registry.insert<WaveDialect>();
  registry.addExtension(+[](MLIRContext *context, WaveDialect *) {
    fad::attachRules<Snake>(context);
  });
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

// fad does not lower the operations of others: they stay in its regions, on
// scalars.
static LogicalResult lowerSnake(SnakeOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value x = op.getOperand();
  TypedAttr number =
      rewriter.getFloatAttr(x.getType(), op.getFrequency().convertToDouble());
  Value f = arith::ConstantOp::create(rewriter, loc, number);
  Value inner = arith::MulFOp::create(rewriter, loc, f, x);
  Value sine = math::SinOp::create(rewriter, loc, inner);
  Value square = arith::MulFOp::create(rewriter, loc, sine, sine);
  Value wave = arith::DivFOp::create(rewriter, loc, square, f);
  rewriter.replaceOpWithNewOp<arith::AddFOp>(op, x, wave);
  return success();
}

static LogicalResult lowerChirp(ChirpOp op, PatternRewriter &rewriter) {
  Value x = op.getOperand();
  Value square = arith::MulFOp::create(rewriter, op.getLoc(), x, x);
  rewriter.replaceOpWithNewOp<math::SinOp>(op, square);
  return success();
}

namespace {
struct LowerWave : PassWrapper<LowerWave, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerWave)

  StringRef getArgument() const override { return "lower-wave"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(lowerSnake);
    patterns.add(lowerChirp);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> wave::createLowerWave() {
  return std::make_unique<LowerWave>();
}
