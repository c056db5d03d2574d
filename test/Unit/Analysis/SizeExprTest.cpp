//===- SizeExprTest.cpp - Tests of symbolic sizes -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SizeExpr.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fad;

namespace {

std::string print(const SizeExpr &expr) {
  std::string result;
  llvm::raw_string_ostream os(result);
  const StringRef names[] = {"a", "b", "c"};
  expr.print(os, [&](unsigned symbol) { return names[symbol]; });
  return result;
}

TEST(SizeExpr, SumsAndProducts) {
  SizeExpr a = SizeExpr::getSymbol(0), b = SizeExpr::getSymbol(1);
  SizeExpr area(4);
  area *= b;
  area *= a;
  EXPECT_EQ(print(area), "4*a*b");
  SizeExpr sum = area;
  sum += SizeExpr(12);
  sum += a;
  sum += area;
  EXPECT_EQ(print(sum), "8*a*b + a + 12");
  sum *= a;
  EXPECT_EQ(sum.getConstant(), std::nullopt);
}

TEST(SizeExpr, Constants) {
  SizeExpr six(2);
  six *= SizeExpr(3);
  EXPECT_EQ(six.getConstant(), 6u);
  EXPECT_EQ(print(six), "6");
  SizeExpr zero = six;
  zero *= SizeExpr(0);
  zero *= SizeExpr::getSymbol(0);
  EXPECT_EQ(zero.getConstant(), 0u);
  EXPECT_EQ(print(zero), "0");
}

TEST(SizeExpr, Saturates) {
  SizeExpr huge(UINT64_MAX / 2);
  huge *= SizeExpr(3);
  EXPECT_EQ(huge.getConstant(), UINT64_MAX);
  huge += SizeExpr(1);
  EXPECT_EQ(huge.getConstant(), UINT64_MAX);
}

TEST(SizeExpr, Substitutes) {
  SizeExpr expr(4);
  expr *= SizeExpr::getSymbol(0);
  expr *= SizeExpr::getSymbol(1);
  SizeExpr partial = expr.substitute([](unsigned symbol) {
    return symbol ? std::nullopt : std::optional<uint64_t>(128);
  });
  EXPECT_EQ(print(partial), "512*b");
  SizeExpr none = expr.substitute([](unsigned) { return 0; });
  EXPECT_EQ(none.getConstant(), 0u);
}

TEST(TensorSizes, OfNoMoreElementsThanMemoryHolds) {
  constexpr int64_t dynamic = ShapedType::kDynamic, half = int64_t(1) << 30;
  EXPECT_FALSE(hasTooManyElements({}));
  EXPECT_FALSE(hasTooManyElements({kMaxElements, 1, dynamic, 0}));
  EXPECT_TRUE(hasTooManyElements({kMaxElements + 1}));
  EXPECT_TRUE(hasTooManyElements({half, 0, dynamic, half}));
  EXPECT_TRUE(hasTooManyElements({4 * half, 4 * half}));
  EXPECT_FALSE(hasTooManyElements({half, half / 4}));
}

TEST(ScalarBytes, ByType) {
  MLIRContext context;
  Builder b(&context);
  EXPECT_EQ(getScalarBytes(b.getI1Type()), 1u);
  EXPECT_EQ(getScalarBytes(b.getIntegerType(12)), 2u);
  EXPECT_EQ(getScalarBytes(b.getIndexType()), 8u);
  EXPECT_EQ(getScalarBytes(b.getF16Type()), 2u);
  EXPECT_EQ(getScalarBytes(b.getBF16Type()), 2u);
  EXPECT_EQ(getScalarBytes(b.getF32Type()), 4u);
  EXPECT_EQ(getScalarBytes(b.getF64Type()), 8u);
  EXPECT_EQ(getScalarBytes(ComplexType::get(b.getF32Type())), 8u);
  EXPECT_EQ(getScalarBytes(VectorType::get({3, 4}, b.getF32Type())), 48u);
  EXPECT_EQ(getScalarBytes(VectorType::get({4}, b.getF32Type(), {true})),
            std::nullopt);
  EXPECT_EQ(getScalarBytes(b.getNoneType()), std::nullopt);
}

/// The bytes of values of the function `source`.
class ValueBytes : public testing::Test {
protected:
  ValueBytes() {
    DialectRegistry registry;
    tensor::registerInferTypeOpInterfaceExternalModels(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                        func::FuncDialect, linalg::LinalgDialect,
                        scf::SCFDialect, tensor::TensorDialect, FadDialect>();
  }

  /// Of the first operand of the terminator of the function.
  std::string bytesOfResult(StringRef source) {
    return bytesOf(source, [](func::FuncOp function) {
      return function.front().getTerminator()->getOperand(0);
    });
  }

  /// Of the first tensor that the loops of the function carry, in each of them.
  std::string bytesInLoop(StringRef source) {
    return bytesOf(source, [](func::FuncOp function) {
      Value carried;
      function.walk([&](Block *block) {
        for (BlockArgument argument : block->getArguments())
          if (!carried && block->getParentOp() != function &&
              isa<TensorType>(argument.getType()))
            carried = argument;
      });
      return carried;
    });
  }

  std::string bytesOf(StringRef source,
                      llvm::function_ref<Value(func::FuncOp)> find) {
    auto module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return "does not parse";
    auto function = *module->getOps<func::FuncOp>().begin();
    Value value = find(function);
    size_t numOps = function.front().getOperations().size();
    SizeSymbols symbols;
    std::optional<SizeExpr> bytes = getValueBytes(value, symbols);
    // An analysis leaves the program as it is.
    EXPECT_EQ(function.front().getOperations().size(), numOps);
    if (!bytes)
      return "unknown";
    std::string result;
    llvm::raw_string_ostream os(result);
    bytes->print(os, [&](unsigned symbol) { return symbols.getName(symbol); });
    for (const SizeSymbols::Symbol &symbol : symbols.getSymbols())
      if (symbol.argumentDim)
        os << "; " << symbol.name << ": " << symbol.description;
    return result;
  }

  MLIRContext context;
};

TEST_F(ValueBytes, Scalar) {
  EXPECT_EQ(bytesOfResult("func.func @f(%x: f32) -> f32 { return %x : f32 }"),
            "4");
}

TEST_F(ValueBytes, StaticShape) {
  EXPECT_EQ(bytesOfResult("func.func @f(%x: tensor<3x5xi1>) -> tensor<3x5xi1> "
                          "{ return %x : tensor<3x5xi1> }"),
            "15");
}

TEST_F(ValueBytes, RankZero) {
  EXPECT_EQ(bytesOfResult("func.func @f(%x: tensor<f64>) -> tensor<f64> "
                          "{ return %x : tensor<f64> }"),
            "8");
}

TEST_F(ValueBytes, ThroughElementwise) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%w: tensor<4xf32>, %x: tensor<2x?xf32>)
            -> tensor<2x?xf16> {
          %y = arith.addf %x, %x : tensor<2x?xf32>
          %z = arith.truncf %y : tensor<2x?xf32> to tensor<2x?xf16>
          return %z : tensor<2x?xf16>
        })"),
            "4*d0; d0: dimension 1 of argument 1");
}

TEST_F(ValueBytes, ThroughDestination) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x16xf32>)
            -> tensor<?x16xf32> {
          %zero = arith.constant 0 : index
          %rows = tensor.dim %x, %zero : tensor<?x8xf32>
          %empty = tensor.empty(%rows) : tensor<?x16xf32>
          %y = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x16xf32>)
            outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
          return %y : tensor<?x16xf32>
        })"),
            "64*d0; d0: dimension 0 of argument 0");
}

TEST_F(ValueBytes, ThroughDestinationWithoutALoop) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%x: tensor<5xf32>, %y: tensor<5x?xf32>)
            -> tensor<5x?xf32> {
          %z = linalg.generic {
              indexing_maps = [affine_map<(i) -> (i)>,
                               affine_map<(i) -> (-i + 4, 0)>],
              iterator_types = ["parallel"]}
              ins(%x : tensor<5xf32>) outs(%y : tensor<5x?xf32>) {
          ^bb0(%a: f32, %b: f32):
            linalg.yield %a : f32
          } -> tensor<5x?xf32>
          return %z : tensor<5x?xf32>
        })"),
            "20*d0; d0: dimension 1 of argument 1");
}

TEST_F(ValueBytes, ProductOfDimensions) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%x: tensor<?x?xf32>) -> tensor<?xf32> {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %m = tensor.dim %x, %zero : tensor<?x?xf32>
          %n = tensor.dim %x, %one : tensor<?x?xf32>
          %mn = arith.muli %m, %n : index
          %empty = tensor.empty(%mn) : tensor<?xf32>
          return %empty : tensor<?xf32>
        })"),
            "4*d0*d1; d0: dimension 0 of argument 0; "
            "d1: dimension 1 of argument 0");
}

TEST_F(ValueBytes, OneUnknownSize) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%n: index) -> tensor<?x?xf32> {
          %empty = tensor.empty(%n, %n) : tensor<?x?xf32>
          return %empty : tensor<?x?xf32>
        })"),
            "4*u0*u0");
}

// Arguments of other blocks than that of a function are none of the function.
TEST_F(ValueBytes, CarriedByALoop) {
  EXPECT_EQ(bytesInLoop(R"(
        func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %r = scf.for %i = %zero to %n step %one iter_args(%a = %x)
              -> tensor<?xf32> {
            %b = arith.addf %a, %a : tensor<?xf32>
            scf.yield %b : tensor<?xf32>
          }
          return
        })"),
            "4*d0; d0: dimension 0 of argument 0");
}

TEST_F(ValueBytes, ChangedByALoop) {
  EXPECT_EQ(bytesInLoop(R"(
        func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %r = scf.for %i = %zero to %n step %one iter_args(%a = %x)
              -> tensor<?xf32> {
            %b = tensor.concat dim(0) %a, %a
              : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
            scf.yield %b : tensor<?xf32>
          }
          return
        })"),
            "4*u0");
}

TEST_F(ValueBytes, CarriedByAConditionalLoop) {
  EXPECT_EQ(bytesInLoop(R"(
        func.func @f(%y: tensor<?xf32>, %x: tensor<?xf32>, %more: i1) {
          %r = scf.while (%a = %x) : (tensor<?xf32>) -> tensor<?xf32> {
            scf.condition(%more) %a : tensor<?xf32>
          } do {
          ^bb0(%a: tensor<?xf32>):
            scf.yield %a : tensor<?xf32>
          }
          return
        })"),
            "4*u0");
}

TEST_F(ValueBytes, ThroughReshape) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%x: tensor<?x3x?xf32>) -> tensor<?x?xf32> {
          %y = tensor.collapse_shape %x [[0, 1], [2]]
            : tensor<?x3x?xf32> into tensor<?x?xf32>
          return %y : tensor<?x?xf32>
        })"),
            "12*d0*d1; d0: dimension 0 of argument 0; "
            "d1: dimension 2 of argument 0");
}

/// Bytes that hold elements of three bits, of rows of `columns` elements.
std::string packedRows(StringRef columns) {
  return (R"(
        func.func @f(%x: tensor<?x)" +
          columns + R"(xi8>) -> tensor<?xi8> {
          %y = fad.pack %x bits 3 : tensor<?x)" +
          columns + R"(xi8> -> tensor<?xi8>
          return %y : tensor<?xi8>
        })")
      .str();
}

TEST_F(ValueBytes, QuotientWithoutRemainder) {
  EXPECT_EQ(bytesOfResult(packedRows("16")),
            "6*d0; d0: dimension 0 of argument 0");
}

TEST_F(ValueBytes, QuotientThatIsRoundedUp) {
  EXPECT_EQ(bytesOfResult(packedRows("5")),
            "ceil(15*d0/8); d0: dimension 0 of argument 0");
  EXPECT_EQ(bytesOfResult(packedRows("?")),
            "ceil(3*d0*d1/8); d0: dimension 0 of argument 0; "
            "d1: dimension 1 of argument 0");
}

TEST_F(ValueBytes, QuotientOfGivenSizes) {
  auto module = parseSourceString<ModuleOp>(packedRows("?"), &context);
  auto function = *module->getOps<func::FuncOp>().begin();
  Value value = function.front().getTerminator()->getOperand(0);
  SizeSymbols symbols;
  SizeExpr bytes = *getValueBytes(value, symbols);
  auto substitute = [&](std::optional<uint64_t> columns) {
    return symbols
        .substitute(bytes,
                    [&](const SizeSymbols::Symbol &symbol) {
                      return symbol.argumentDim->second == 0 ? 7 : columns;
                    })
        .getConstant();
  };
  EXPECT_EQ(substitute(5), 14u);
  EXPECT_EQ(substitute(8), 21u);
  EXPECT_EQ(substitute(0), 0u);
  EXPECT_EQ(substitute(std::nullopt), std::nullopt);
}

TEST_F(ValueBytes, SizeThatIsNoArgumentDimension) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%n: index) -> tensor<?xf32> {
          %empty = tensor.empty(%n) : tensor<?xf32>
          return %empty : tensor<?xf32>
        })"),
            "4*u0");
}

TEST_F(ValueBytes, ElementsOfUnknownSize) {
  EXPECT_EQ(bytesOfResult(R"(
        func.func @f(%x: tensor<2xvector<[4]xf32>>)
            -> tensor<2xvector<[4]xf32>> {
          return %x : tensor<2xvector<[4]xf32>>
        })"),
            "unknown");
}

} // namespace
