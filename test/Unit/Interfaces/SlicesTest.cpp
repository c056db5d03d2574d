//===- SlicesTest.cpp - Tests of slices without elements ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class SlicesTest : public testing::Test {
protected:
  SlicesTest() : module(makeModule(context)), builder(&context) {
    builder.setInsertionPointToEnd(module->getBody());
  }

  static OwningOpRef<ModuleOp> makeModule(MLIRContext &context) {
    context.loadDialect<arith::ArithDialect, tensor::TensorDialect>();
    return ModuleOp::create(UnknownLoc::get(&context));
  }

  RankedTensorType getType(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }

  /// The operation that a slice of `size` elements of an empty tensor becomes.
  Operation *slice(RankedTensorType type, OpFoldResult size) {
    Location loc = builder.getUnknownLoc();
    Value nothing =
        tensor::EmptyOp::create(builder, loc, getType({0}), ValueRange());
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    return fad::extractSlice(builder, loc, type, nothing, zero, size, one)
        .getDefiningOp();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
};
} // namespace

TEST_F(SlicesTest, NothingOfNothingIsEmpty) {
  Operation *op = slice(getType({0}), builder.getIndexAttr(0));
  EXPECT_TRUE(isa<tensor::EmptyOp>(op));
}

TEST_F(SlicesTest, UnknownSizeOfNothingIsZeros) {
  Value size =
      arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(), 3);
  auto splat =
      dyn_cast<tensor::SplatOp>(slice(getType({ShapedType::kDynamic}), size));
  ASSERT_TRUE(splat);
  EXPECT_TRUE(matchPattern(splat.getInput(), m_PosZeroFloat()));
  EXPECT_EQ(splat.getDynamicSizes().front(), size);
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(SlicesTest, VerifierRejectsAnotherType) {
  Operation *op = slice(getType({3}), builder.getIndexAttr(0));
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(verify(op)));
}
