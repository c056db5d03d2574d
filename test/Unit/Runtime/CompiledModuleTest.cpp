//===- CompiledModuleTest.cpp - Compiled functions and their buffers ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/CompiledModule.h"
#include "HostSymbols.h"
#include "Library/Gemm.h"
#include "fad/IR/Fad.h"
#include "fad/Runtime/Memory.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::fad;

namespace {
class CompiledModuleTest : public testing::Test {
protected:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<FadDialect>();
    registerRuntimeExtensions(registry);
    return registry;
  }

  CompiledModule compile(StringRef source, bool parallel = true) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    FailureOr<CompiledModule> compiled =
        CompiledModule::compile(*module, {parallel, {}});
    EXPECT_TRUE(succeeded(compiled));
    return std::move(*compiled);
  }

  HostTensor makeTensor(ArrayRef<double> values) {
    int64_t size = values.size();
    auto type = RankedTensorType::get(size, Float32Type::get(&context));
    HostTensor tensor = llvm::cantFail(HostTensor::create(type));
    for (auto [index, value] : llvm::enumerate(values))
      tensor.setFloat(index, value);
    return tensor;
  }

  MLIRContext context{makeRegistry()};
};

// Every buffer is freed once, whoever else is in it, and not before the last
// tensor in it is gone, even where that is after the compiled code.
TEST_F(CompiledModuleTest, OwnsEachBufferOnce) {
  size_t before = getBufferBytes();
  {
    SmallVector<HostTensor> results;
    {
      CompiledModule compiled = compile(R"mlir(
        func.func @f(%x: tensor<4xf32>)
            -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>,
                tensor<2x2xf32>, tensor<2xf32>) {
          %y = math.absf %x : tensor<4xf32>
          %z = math.sqrt %y : tensor<4xf32>
          %square = tensor.expand_shape %y [[0, 1]] output_shape [2, 2]
              : tensor<4xf32> into tensor<2x2xf32>
          %squareX = tensor.expand_shape %x [[0, 1]] output_shape [2, 2]
              : tensor<4xf32> into tensor<2x2xf32>
          %half = tensor.extract_slice %z[1] [2] [1]
              : tensor<4xf32> to tensor<2xf32>
          return %y, %square, %y, %x, %squareX, %half
              : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>,
                tensor<2x2xf32>, tensor<2xf32>
        })mlir");
      HostTensor x = makeTensor({-1, -4, 9, 16});
      results = llvm::cantFail(compiled.call("f", x));
      ASSERT_EQ(results.size(), 6u);
      EXPECT_EQ(results[2].data(), results[0].data());
      EXPECT_EQ(results[3].data(), x.data());
    }
    constexpr double expected[] = {1, 4, 9, 16};
    for (auto [index, value] : llvm::enumerate(expected)) {
      EXPECT_EQ(results[0].getFloat(index), value);
      EXPECT_EQ(results[1].getFloat(index), value);
    }
    EXPECT_EQ(results[3].getFloat(1), -4);
    EXPECT_EQ(results[4].getFloat(1), -4);
    EXPECT_EQ(results[5].getFloat(0), 2);
    EXPECT_EQ(results[5].getFloat(1), 3);
    EXPECT_GT(getBufferBytes(), before);
  }
  EXPECT_EQ(getBufferBytes(), before);
}

TEST_F(CompiledModuleTest, CountsThePeak) {
  CompiledModule compiled = compile(R"mlir(
    func.func @f(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %y = math.absf %x : tensor<1024xf32>
      return %y : tensor<1024xf32>
    })mlir");
  HostTensor x = makeTensor(SmallVector<double>(1024));
  resetPeakBufferBytes();
  size_t before = getBufferBytes();
  auto results = llvm::cantFail(compiled.call("f", x));
  // Compiled code asks for room to align, too.
  EXPECT_GE(getPeakBufferBytes(), before + 4096);
  EXPECT_LE(getPeakBufferBytes(), before + 4096 + 64);
}

// An assertion that fails returns, and the next call is as good as the first.
TEST_F(CompiledModuleTest, ReturnsFromAssertions) {
  CompiledModule compiled = compile(R"mlir(
    func.func @f(%ok: i1) -> i1 {
      cf.assert %ok, "not ok"
      return %ok : i1
    })mlir",
                                    /*parallel=*/false);
  auto type = RankedTensorType::get({}, IntegerType::get(&context, 1));
  HostTensor ok = llvm::cantFail(HostTensor::create(type));
  for (int64_t value : {1, 0, 1}) {
    ok.setInteger(0, value);
    auto results = compiled.call("f", ok);
    EXPECT_EQ(bool(results), value == 1);
    if (results)
      continue;
    EXPECT_EQ(llvm::toString(results.takeError()), "not ok");
  }
}

/// The threads of this process.
static unsigned countThreads() {
  std::error_code code;
  unsigned count = 0;
  llvm::sys::fs::directory_iterator thread("/proc/self/task", code), end;
  for (; thread != end && !code; thread.increment(code))
    ++count;
  return count;
}

/// Ends the process, which has no thread of OpenMP before: with 0 if a library
/// computes a product in the thread that calls it where `parallel` is not set.
[[noreturn]] static void multiplyInOneThread(MLIRContext &context) {
  constexpr int64_t size = 256;
  auto type = RankedTensorType::get({size, size}, Float32Type::get(&context));
  HostTensor a = llvm::cantFail(HostTensor::create(type));
  HostTensor b = llvm::cantFail(HostTensor::create(type));
  for (int64_t i = 0; i < size * size; ++i) {
    a.setFloat(i, i % 7 - 3);
    b.setFloat(i, i % 5 - 2);
  }
  SmallVector<CompiledModule> modules;
  for (bool parallel : {false, true}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
      func.func @f(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>)
          -> tensor<256x256xf32> {
        %zero = arith.constant dense<0.0> : tensor<256x256xf32>
        %c = linalg.matmul
            ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>)
            outs(%zero : tensor<256x256xf32>) -> tensor<256x256xf32>
        return %c : tensor<256x256xf32>
      })mlir",
                                                               &context);
    CompileOptions options;
    options.parallel = parallel;
    options.contractions = Contractions::library;
    auto compiled = CompiledModule::compile(*module, options);
    if (failed(compiled))
      std::exit(1);
    modules.push_back(std::move(*compiled));
  }
  // Loading a library may have begun some, but not as many.
  int most = getMaxThreads() + 1;
  setMaxThreads(most);
  for (auto [parallel, compiled] : llvm::enumerate(modules)) {
    unsigned before = countThreads();
    auto results = llvm::cantFail(compiled.call("f", {a, b}));
    // Those of OpenMP stay until the process ends.
    if ((countThreads() > before) != bool(parallel))
      std::exit(2);
    // Loops have as many threads as before.
    if (getMaxThreads() != most)
      std::exit(3);
    for (int64_t row = 0; row < size; row += 17)
      for (int64_t column = 0; column < size; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < size; ++k)
          sum += a.getFloat(row * size + k) * b.getFloat(k * size + column);
        // Products and sums are small integers.
        if (results[0].getFloat(row * size + column) != sum)
          std::exit(4);
      }
  }
  std::exit(0);
}

TEST_F(CompiledModuleTest, CallsLibrariesInOneThread) {
  if (getLibraryTypes().empty())
    GTEST_SKIP() << "neither oneDNN nor OpenBLAS";
  // A process of its own, from the start.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(multiplyInOneThread(context), testing::ExitedWithCode(0), "");
}

/// A vector, as packed code takes it.
struct Vector {
  Vector(MutableArrayRef<float> elements)
      : allocated(elements.data()), aligned(elements.data()),
        size(elements.size()) {}

  float *allocated, *aligned;
  int64_t offset = 0, size, stride = 1;
};

// Packed code writes to buffers of the caller, which may be slices, and leaves
// the elements beside them alone.
TEST_F(CompiledModuleTest, WritesResultsToArguments) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%x: tensor<?xf32>, %n: f64) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %0:2 = fad.elementwise ins(%x, %n : tensor<?xf32>, f64) -> tensor<?xf32>, tensor<?xf32> {
      ^bb0(%a: f32, %b: f64):
        %1 = arith.truncf %b : f64 to f32
        %2 = arith.mulf %a, %1 : f32
        %3 = arith.mulf %2, %2 : f32
        fad.yield %2, %3 : f32, f32
      }
      return %0#0, %x, %0#1 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    func.func @branches(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
      %0 = arith.addf %x, %x : tensor<?xf32>
      cf.cond_br %c, ^first, ^second
    ^first:
      return %0 : tensor<?xf32>
    ^second:
      %1 = arith.mulf %0, %0 : tensor<?xf32>
      return %1 : tensor<?xf32>
    }
    func.func @scalar(%x: f32) -> f32 {
      return %x : f32
    }
    func.func @sum(%x: f32) -> f32 {
      %0 = arith.addf %x, %x : f32
      return %0 : f32
    })mlir",
                                                             &context);
  CompileOptions options;
  options.parallel = false;
  options.resultsToArguments = true;
  auto compiled = CompiledModule::compile(*module, options);
  ASSERT_TRUE(succeeded(compiled));
  size_t before = getNumAllocations();
  std::vector<float> x(100), first(100), second(100);
  for (auto [index, value] : llvm::enumerate(x))
    value = index;
  double number = 3;
  for (auto [begin, size] : {std::pair(0, 0), std::pair(7, 70)}) {
    Vector arguments[] = {MutableArrayRef(x).slice(begin, size),
                          MutableArrayRef(first).slice(begin, size),
                          MutableArrayRef(second).slice(begin, size)};
    void *pointers[] = {&arguments[0], &arguments[1], &arguments[2]};
    void *packed[] = {&pointers[0], &number, &pointers[1], &pointers[2]};
    compiled->getPacked("f")(packed);
    for (int i = 0; i < 100; ++i) {
      bool isInside = begin <= i && i < begin + size;
      EXPECT_EQ(first[i], isInside ? 3 * i : 0);
      EXPECT_EQ(second[i], isInside ? 9 * i * i : 0);
    }
  }
  EXPECT_EQ(getNumAllocations(), before);
  for (bool condition : {true, false}) {
    Vector arguments[] = {MutableArrayRef(x), MutableArrayRef(first)};
    void *pointers[] = {&arguments[0], &arguments[1]};
    void *packed[] = {&pointers[0], &condition, &pointers[1]};
    compiled->getPacked("branches")(packed);
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(first[i], condition ? 2 * i : 4 * i * i);
  }
  EXPECT_NE(compiled->getPacked("scalar"), nullptr);
  EXPECT_EQ(compiled->getPacked("sum"), nullptr);
}

// Globals change from call to call, and can be reset.
TEST_F(CompiledModuleTest, KeepsGlobals) {
  CompiledModule compiled = compile(R"mlir(
    ml_program.global private mutable @state(dense<3> : tensor<i64>) : tensor<i64>
    func.func @f() -> tensor<i64> {
      %one = arith.constant dense<1> : tensor<i64>
      %old = ml_program.global_load @state : tensor<i64>
      %new = arith.addi %old, %one : tensor<i64>
      ml_program.global_store @state = %new : tensor<i64>
      return %old : tensor<i64>
    })mlir");
  auto call = [&] {
    return llvm::cantFail(compiled.call("f", {}))[0].getInteger(0);
  };
  EXPECT_EQ(call(), 3);
  EXPECT_EQ(call(), 4);
  compiled.resetGlobals();
  EXPECT_EQ(call(), 3);
  EXPECT_EQ(call(), 4);
}
} // namespace
