//===- PeakModelTest.cpp - Tests of residuals on the host -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// No pass selects residuals on the host, so that no test of one reads their
// peaks and times.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Costs/PeakModel.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// A chain of calls, of which backward reads the results of the first two. %a
/// and %p have 4096 bytes, the others 1024.
constexpr StringLiteral kChain = R"mlir(
  func.func @chain(%x: tensor<256xf32>, %g: tensor<256xf32> {fad.cotangent = 0 : i64})
      -> (tensor<256xf32>, tensor<256xf32> {fad.gradient = 0 : i64})
      attributes {fad.fuses = #fad.fusion<>} {
    %a = fad.opaque "a" keep (%x) : (tensor<256xf32>) -> tensor<1024xf32>
    %b = fad.opaque "b" keep (%a) : (tensor<1024xf32>) -> tensor<256xf32>
    %c = fad.opaque "c" keep (%b) : (tensor<256xf32>) -> tensor<256xf32>
    %p = fad.opaque "p" keep (%c) : (tensor<256xf32>) -> tensor<1024xf32>
    %d = fad.opaque "d" keep (%p) : (tensor<1024xf32>) -> tensor<256xf32>
    %e = fad.opaque "e" keep (%g) : (tensor<256xf32>) -> tensor<256xf32>
    %h = fad.opaque "h" keep (%e, %b) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %i = fad.opaque "i" keep (%h, %a) : (tensor<256xf32>, tensor<1024xf32>) -> tensor<256xf32>
    return %d, %i : tensor<256xf32>, tensor<256xf32>
  }
)mlir";

class PeakModelTest : public ::testing::Test {
protected:
  PeakModelTest() {
    context.loadDialect<FadDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kChain, &context);
    function = *module->getOps<func::FuncOp>().begin();
    for (Operation &op : function.front().without_terminator())
      values.push_back(op.getResult(0));
  }

  /// The model on `target`, passed to `check` with the residuals %a and %b.
  void
  run(Target target,
      llvm::function_ref<void(const PeakModel &, const llvm::DenseSet<Value> &)>
          check) {
    FailureOr<JointFunction> joint = JointFunction::get(function);
    ASSERT_TRUE(succeeded(joint));
    Recomputation recomputation(*joint);
    SelectionOptions options;
    options.target = target;
    CostModel costs(recomputation, options);
    check(PeakModel(*joint, costs), {values[0], values[1]});
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  SmallVector<Value> values;
};
} // namespace

TEST_F(PeakModelTest, HostHasResidualsBetweenTheParts) {
  run(Target::gpu,
      [&](const PeakModel &model, const llvm::DenseSet<Value> &saved) {
        // At "d": %a, %b, %p and %d.
        EXPECT_EQ(model.getPeak(saved), 2 * 4096 + 2 * 1024);
        // At "h", while %a comes back: %a, %b, %d, %e and %h.
        EXPECT_EQ(model.getPeak(saved, {values[0]}), 4096 + 4 * 1024);
      });
}

TEST_F(PeakModelTest, PartsWaitForTheLink) {
  run(Target::gpu,
      [&](const PeakModel &model, const llvm::DenseSet<Value> &saved) {
        StepTime onDevice = model.getTime(saved);
        EXPECT_EQ(onDevice.waits, 0);
        StepTime onHost = model.getTime(saved, {values[0]});
        EXPECT_EQ(onHost.traffic, onDevice.traffic);
        EXPECT_EQ(onHost.calls, onDevice.calls);
        // The link takes longer than either part.
        EXPECT_EQ(onHost.get(), 2 * kGPUTimes.link * 4096);
      });
}

TEST_F(PeakModelTest, OneMemoryHasNoLink) {
  run(Target::cpu,
      [&](const PeakModel &model, const llvm::DenseSet<Value> &saved) {
        EXPECT_EQ(model.getTime(saved, {values[0]}).waits, 0);
      });
}
