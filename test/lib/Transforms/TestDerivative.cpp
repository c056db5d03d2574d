//===- TestDerivative.cpp - Derivatives of scalar functions ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Appends to a module, for each function on scalars and each floating-point
// argument, a function that returns the derivatives of the results with
// respect to that argument. Tests of derivative rules read and run them.
//
//===----------------------------------------------------------------------===//

#include "../TestPasses.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Differentiate/ForwardMode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::fad;

/// What `function` returns, or null where it has no single block.
static func::ReturnOp getReturn(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return {};
  return dyn_cast<func::ReturnOp>(function.front().getTerminator());
}

namespace {
struct TestDerivativePass
    : PassWrapper<TestDerivativePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDerivativePass)

  TestDerivativePass() = default;
  TestDerivativePass(const TestDerivativePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-fad-derivative"; }
  StringRef getDescription() const override {
    return "Append the derivatives of each scalar function @f: @f_d0 with "
           "respect to argument 0, and so on";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    // Not the declarations, which `append` erases.
    auto functions = llvm::to_vector(llvm::make_filter_range(
        getOperation().getOps<func::FuncOp>(),
        [](func::FuncOp function) { return bool(getReturn(function)); }));
    for (func::FuncOp function : functions) {
      for (BlockArgument argument : function.getArguments()) {
        if (!getTangentType(argument.getType()))
          continue;
        if (failed(append(function, argument, "_d", /*preferResults=*/false)))
          return signalPassFailure();
        if (fromResults && failed(append(function, argument, "_r", true)))
          return signalPassFailure();
      }
    }
  }

  /// Appends the derivative with respect to `argument`. A declaration of that
  /// name, with which a caller may stand before it, gives way.
  LogicalResult append(func::FuncOp function, BlockArgument argument,
                       StringRef infix, bool preferResults) {
    std::string name =
        (function.getName() + infix + Twine(argument.getArgNumber())).str();
    if (Operation *declaration = getOperation().lookupSymbol(name))
      declaration->erase();

    Location loc = function.getLoc();
    func::ReturnOp end = getReturn(function);
    SmallVector<Value> results =
        llvm::filter_to_vector(end.getOperands(), [](Value value) {
          return bool(getTangentType(value.getType()));
        });
    OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(getOperation().getBody());
    auto type = builder.getFunctionType(function.getArgumentTypes(),
                                        ValueRange(results).getTypes());
    auto derivative = func::FuncOp::create(builder, loc, name, type);
    builder.setInsertionPointToStart(derivative.addEntryBlock());

    IRMapping primals;
    primals.map(function.getArguments(), derivative.getArguments());
    clonePrimals(builder, function.front(), primals);
    TangentMap tangents;
    tangents[argument] = 1;
    if (failed(pushforward(builder, function.front(), primals, tangents,
                           preferResults))) {
      derivative.erase();
      return failure();
    }
    SmallVector<Value> returned;
    for (Value result : results)
      returned.push_back(
          materializeTangent(builder, loc, tangents, result, result.getType()));
    func::ReturnOp::create(builder, loc, returned);
    return success();
  }

  Option<bool> fromResults{
      *this, "from-results",
      llvm::cl::desc("Also append @f_r0 and so on, which use the forms of "
                     "derivatives that read results")};
};
} // namespace

void fad::test::registerTestDerivativePass() {
  PassRegistration<TestDerivativePass>();
}
