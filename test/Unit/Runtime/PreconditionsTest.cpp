//===- PreconditionsTest.cpp - Tests of checks of arguments ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Preconditions.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
class PreconditionsTest : public testing::Test {
protected:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<FadDialect>();
    registerRuntimeExtensions(registry);
    return registry;
  }

  void reduce(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    ASSERT_TRUE(module);
    ASSERT_TRUE(succeeded(reduceToPreconditions(*module)));
  }

  template <typename Op> unsigned count() {
    unsigned result = 0;
    module->walk([&](Op) { ++result; });
    return result;
  }

  MLIRContext context{makeRegistry()};
  OwningOpRef<ModuleOp> module;
};
} // namespace

// The gradient of an embedding: a loop that adds rows of a product to those of
// a table. No assertion reads the product, which the loop only carries on.
TEST_F(PreconditionsTest, ComputesNothingThatOnlyALoopCarries) {
  reduce(R"mlir(
    func.func @scatter(%words: tensor<8xindex>, %x: tensor<8x16xf32>,
                       %w: tensor<16x4xf32>) -> tensor<32x4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant dense<0.0> : tensor<8x4xf32>
      %table = arith.constant dense<0.0> : tensor<32x4xf32>
      %rows = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>)
                            outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
      %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%old = %table)
          -> (tensor<32x4xf32>) {
        %word = tensor.extract %words[%i] : tensor<8xindex>
        %row = tensor.extract_slice %rows[%i, 0] [1, 4] [1, 1]
            : tensor<8x4xf32> to tensor<4xf32>
        %place = tensor.extract_slice %old[%word, 0] [1, 4] [1, 1]
            : tensor<32x4xf32> to tensor<4xf32>
        %both = arith.addf %row, %place : tensor<4xf32>
        %new = tensor.insert_slice %both into %old[%word, 0] [1, 4] [1, 1]
            : tensor<4xf32> into tensor<32x4xf32>
        scf.yield %new : tensor<32x4xf32>
      }
      return %sum : tensor<32x4xf32>
    })mlir");
  EXPECT_EQ(count<linalg::LinalgOp>(), 0u);
  // Words may be none of the table's.
  EXPECT_GT(count<cf::AssertOp>(), 0u);
}

/// A filter of three rows that is read in reverse from row `last` on, as the
/// gradient of a convolution does.
static std::string readInReverse(int last) {
  return llvm::formatv(R"mlir(
    func.func @reverse(%filter: tensor<3x5xf32>) -> tensor<3x5xf32> {{
      %empty = tensor.empty() : tensor<3x5xf32>
      %reversed = linalg.generic {{
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}
          outs(%empty : tensor<3x5xf32>) {{
      ^bb0(%out: f32):
        %last = arith.constant {0} : index
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %row = arith.subi %last, %i : index
        %element = tensor.extract %filter[%row, %j] : tensor<3x5xf32>
        linalg.yield %element : f32
      } -> tensor<3x5xf32>
      return %reversed : tensor<3x5xf32>
    })mlir",
                       last)
      .str();
}

TEST_F(PreconditionsTest, IndicesOfLoopsHaveRanges) {
  reduce(readInReverse(/*last=*/2));
  EXPECT_EQ(count<cf::AssertOp>(), 0u);
  EXPECT_EQ(count<linalg::LinalgOp>(), 0u);
}

TEST_F(PreconditionsTest, IndicesThatLeaveStayChecked) {
  reduce(readInReverse(/*last=*/1));
  EXPECT_GT(count<cf::AssertOp>(), 0u);
}

// A function that calls itself with another number each time.
TEST_F(PreconditionsTest, RecursionEnds) {
  reduce(R"mlir(
    func.func private @repeat(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %isLast = arith.cmpi sle, %n, %c0 : i64
      %result = scf.if %isLast -> (tensor<4xf32>) {
        scf.yield %x : tensor<4xf32>
      } else {
        %less = arith.subi %n, %c1 : i64
        %i = arith.index_cast %less : i64 to index
        %element = tensor.extract %x[%i] : tensor<4xf32>
        %all = tensor.splat %element : tensor<4xf32>
        %next = func.call @repeat(%less, %all) : (i64, tensor<4xf32>) -> tensor<4xf32>
        scf.yield %next : tensor<4xf32>
      }
      return %result : tensor<4xf32>
    }
    func.func @main(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
      %result = call @repeat(%n, %x) : (i64, tensor<4xf32>) -> tensor<4xf32>
      return %result : tensor<4xf32>
    })mlir");
  EXPECT_GT(count<cf::AssertOp>(), 0u);
}
