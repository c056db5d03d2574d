//===- TestRulesDialect.cpp - A dialect with rules of its own -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Shows how a dialect that fad does not know gets derivative rules; quoted by
// docs/AddingARule.md.
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "fad/Interfaces/AdjointOpInterface.h"
#include "fad/Rules/ScalarRules.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TestRulesDialect.h.inc"
#define GET_OP_CLASSES
#include "TestRulesOps.h.inc"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::test;

#include "TestRulesDialect.cpp.inc"
#define GET_OP_CLASSES
#include "TestRulesOps.cpp.inc"

void TestRulesDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TestRulesOps.cpp.inc"
      >();
}

// The operation's own implementation of DerivativeOpInterface.
Expr CubeOp::partial(const Primal &at, unsigned, unsigned) {
  Expr x = at.operands[0];
  return 3 * square(x);
}

//===----------------------------------------------------------------------===//
// An operation with a region
//===----------------------------------------------------------------------===//

OperandRange CheckpointOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInputs();
}

void CheckpointOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.emplace_back(&getBody(), getBody().getArguments());
  else
    regions.emplace_back(getOperation(), getOutputs());
}

// The adjoint is another checkpoint, which computes the region again and
// returns the cotangents of the inputs and of captured values.
LogicalResult CheckpointOp::buildAdjoint(AdjointBuilder &adjoint,
                                         ValueRange cotangents) {
  OpBuilder &b = adjoint.rewriter;
  SmallVector<Value> read(getInputs());
  llvm::append_range(read, adjoint.findCaptured(getOperation()->getRegions()));
  auto again = CheckpointOp::create(b, getLoc(), ValueRange(read).getTypes(),
                                    getInputs());
  Block &body = again.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : getBody().getArguments())
    mapping.map(argument,
                body.addArgument(argument.getType(), argument.getLoc()));
  auto finish = [&] {
    SmallVector<Value> yielded;
    for (auto [index, value] : llvm::enumerate(read)) {
      Value inside =
          index < getInputs().size() ? body.getArgument(index) : value;
      Value cotangent = adjoint.takeCotangent(inside);
      yielded.push_back(cotangent ? cotangent
                                  : makeZerosLike(b, getLoc(), inside));
    }
    YieldOp::create(b, getLoc(), yielded);
  };
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body);
    if (failed(adjoint.differentiateBlock(getBody().front(), mapping,
                                          cotangents, finish)))
      return failure();
  }
  for (auto [value, cotangent] : llvm::zip_equal(read, again.getOutputs()))
    if (adjoint.isVaried(value))
      adjoint.addCotangent(value, cotangent);
  return adjoint.finishRegions(again);
}

LogicalResult CheckpointOp::canonicalize(CheckpointOp op,
                                         PatternRewriter &rewriter) {
  Operation *yield = op.getBody().front().getTerminator();
  rewriter.inlineBlockBefore(&op.getBody().front(), op, op.getInputs());
  rewriter.replaceOp(op, yield->getOperands());
  rewriter.eraseOp(yield);
  return success();
}

namespace {
/// A rule for an operation of someone else. The derivatives `a / y` and `b / y`
/// need the result, so the rule offers them in that form as well.
struct Hypot : BinaryRule<Hypot, HypotOp> {
  static Expr da(Expr a, Expr b) { return a / hypot(a, b); }
  static Expr db(Expr a, Expr b) { return b / hypot(a, b); }
  static Expr daFromResult(Expr a, Expr, Expr y) { return a / y; }
  static Expr dbFromResult(Expr, Expr b, Expr y) { return b / y; }

  static Expr hypot(Expr a, Expr b) {
    Expr aSquare = square(a);
    return sqrt(aSquare + square(b));
  }
};

struct LogCosh : UnaryRule<LogCosh, LogCoshOp> {
  static Expr d(Expr x) { return tanh(x); }
};
struct LogOnePlusExp : UnaryRule<LogOnePlusExp, LogOnePlusExpOp> {
  static Expr d(Expr x) { return sigmoid(x); }
};
struct IntegralOfErf : UnaryRule<IntegralOfErf, IntegralOfErfOp> {
  static Expr d(Expr x) { return erf(x); }
};
} // namespace

void fad::test::registerTestRulesDialect(DialectRegistry &registry) {
  registry.insert<TestRulesDialect>();
  registry.addExtension(+[](MLIRContext *context, TestRulesDialect *) {
    attachRules<Hypot>(context);
    attachRules<LogCosh, LogOnePlusExp, IntegralOfErf>(context);
  });
}
