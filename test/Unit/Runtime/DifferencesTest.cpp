//===- DifferencesTest.cpp - Wrong gradients are found --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCheck/Differences.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Checks gradients of the elementwise function `value` at 1, 2, ..., with
/// cotangents of 1.
class DifferencesTest : public testing::Test {
protected:
  using Scalar = double (*)(double);

  HostTensor makeTensor(int64_t size, llvm::function_ref<double(int64_t)> at) {
    auto type = RankedTensorType::get(size, Float64Type::get(&context));
    HostTensor tensor = llvm::cantFail(HostTensor::create(type));
    for (auto [index, element] : llvm::enumerate(tensor.getF64()))
      element = at(index);
    return tensor;
  }

  WeightedFunction makeFunction(Scalar value, int64_t size) {
    auto call = [this, value](ArrayRef<HostTensor> at)
        -> llvm::Expected<SmallVector<HostTensor>> {
      return SmallVector<HostTensor>{makeTensor(
          at[0].size(), [&](int64_t i) { return value(at[0].getFloat(i)); })};
    };
    HostTensor x = makeTensor(size, [](int64_t i) { return 1.0 + i; });
    HostTensor ones = makeTensor(size, [](int64_t) { return 1; });
    return llvm::cantFail(WeightedFunction::create(call, x, ones, 0u));
  }

  double getError(Scalar value, Scalar derivative, int64_t size,
                  const Direction &direction, double wrongBy = 0) {
    WeightedFunction function = makeFunction(value, size);
    HostTensor gradient =
        makeTensor(size, [&](int64_t i) { return derivative(1.0 + i); });
    gradient.getF64()[size / 2] += wrongBy;
    return llvm::cantFail(function.getError(0, gradient, /*scale=*/1e-3,
                                            direction, /*bound=*/1e-6));
  }

  MLIRContext context;
};

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }

TEST_F(DifferencesTest, AcceptsRightGradients) {
  for (int64_t size : {1, 10, 10000}) {
    EXPECT_LT(getError(sine, cosine, size, makeSigns(size, 1)), 1e-6);
    EXPECT_LT(getError(sine, cosine, size, makeAxis(size, size / 2)), 1e-6);
  }
}

// One element among many, by little.
TEST_F(DifferencesTest, RejectsWrongGradients) {
  for (int64_t size : {1, 10, 10000}) {
    EXPECT_GT(getError(sine, cosine, size, makeSigns(size, 1), 1e-3), 1e-6);
    EXPECT_GT(getError(sine, cosine, size, makeAxis(size, size / 2), 1e-5),
              1e-6);
  }
  auto negated = [](double x) { return -std::cos(x); };
  EXPECT_GT(getError(sine, negated, 10000, makeSigns(10000, 1)), 0.1);
  auto zero = [](double) { return 0.0; };
  EXPECT_GT(getError(sine, zero, 10000, makeSigns(10000, 1)), 0.1);
}

// A kink within reach of the first step is not within that of a shorter one.
TEST_F(DifferencesTest, StepsAroundKinks) {
  auto kink = [](double x) { return std::max(x - 1.000002, 0.0); };
  auto slope = [](double x) { return x > 1.000002 ? 1.0 : 0.0; };
  EXPECT_LT(getError(kink, slope, 1, makeAxis(1, 0)), 1e-6);
  auto other = [](double x) { return x > 1.000002 ? 0.0 : 1.0; };
  EXPECT_GT(getError(kink, other, 1, makeAxis(1, 0)), 1e-6);
}

// NaN agrees with nothing.
TEST_F(DifferencesTest, RejectsNaN) {
  auto undefined = [](double) { return std::nan(""); };
  EXPECT_FALSE(getError(undefined, cosine, 4, makeAxis(4, 0)) <= 1e-6);
  EXPECT_FALSE(getError(sine, undefined, 4, makeAxis(4, 0)) <= 1e-6);
}
} // namespace
