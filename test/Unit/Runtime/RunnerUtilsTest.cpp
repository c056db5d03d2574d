//===- RunnerUtilsTest.cpp - Copies and roundings for compiled code -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerUtils.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::fad;

namespace {
/// Copies between memrefs of rank `rank` with elements of type `T`.
template <typename T, int rank>
void copy(StridedMemRefType<T, rank> source,
          StridedMemRefType<T, rank> target) {
  ::UnrankedMemRefType<char> from{rank, &source}, to{rank, &target};
  copyMemRef(sizeof(T), &from, &to);
}

uint32_t bits(float value) { return llvm::bit_cast<uint32_t>(value); }
} // namespace

TEST(RunnerUtils, CopyTransposes) {
  int32_t source[6], target[8] = {};
  std::iota(source, source + 6, 1);
  // Elements 1 to 6 of the target, by columns.
  copy<int32_t, 2>({source, source, 0, {2, 3}, {3, 1}},
                   {target, target, 1, {2, 3}, {1, 2}});
  int32_t expected[8] = {0, 1, 4, 2, 5, 3, 6, 0};
  EXPECT_TRUE(std::equal(target, target + 8, expected));
}

TEST(RunnerUtils, CopyKeepsGaps) {
  // Rows of two of four elements.
  int16_t source[12], target[12] = {};
  std::iota(source, source + 12, 1);
  copy<int16_t, 2>({source, source, 1, {3, 2}, {4, 1}},
                   {target, target, 0, {3, 2}, {4, 2}});
  int16_t expected[12] = {2, 0, 3, 0, 6, 0, 7, 0, 10, 0, 11, 0};
  EXPECT_TRUE(std::equal(target, target + 12, expected));
}

TEST(RunnerUtils, CopyRepeatsAndReverses) {
  double source[3] = {1, 2, 3}, target[6] = {};
  copy<double, 2>({source, source, 2, {2, 3}, {0, -1}},
                  {target, target, 0, {2, 3}, {3, 1}});
  double expected[6] = {3, 2, 1, 3, 2, 1};
  EXPECT_TRUE(std::equal(target, target + 6, expected));
}

TEST(RunnerUtils, CopyOfOneAndOfNone) {
  float source = 5, target = 0;
  StridedMemRefType<float, 0> from{&source, &source, 0},
      to{&target, &target, 0};
  ::UnrankedMemRefType<char> fromAny{0, &from}, toAny{0, &to};
  copyMemRef(sizeof(float), &fromAny, &toAny);
  EXPECT_EQ(target, 5);
  copy<float, 2>({nullptr, nullptr, 0, {3, 0}, {0, 1}},
                 {nullptr, nullptr, 0, {3, 0}, {0, 1}});
}

TEST(RunnerUtils, TruncateToBF16) {
  // 1 + 2^-8 is in the middle of 1 and the next number, 1 + 2^-7.
  EXPECT_EQ(bits(truncateToBF16(1.0f)), 0x3f80u);
  EXPECT_EQ(bits(truncateToBF16(1.0f + 0x1p-8f)), 0x3f80u);
  EXPECT_EQ(bits(truncateToBF16(1.0f + 0x1.8p-7f)), 0x3f82u);
  EXPECT_EQ(bits(truncateToBF16(1.0f + 0x1.02p-8f)), 0x3f81u);
  // A number of f64 is rounded once.
  EXPECT_EQ(bits(truncateToBF16(1.0 + 0x1p-8 + 0x1p-40)), 0x3f81u);
  EXPECT_EQ(bits(truncateToBF16(1.0 + 0x1p-8 - 0x1p-40)), 0x3f80u);
  EXPECT_EQ(bits(truncateToBF16(-0.0f)), 0x8000u);
  EXPECT_EQ(bits(truncateToBF16(std::numeric_limits<float>::max())), 0x7f80u);
  EXPECT_EQ(bits(truncateToBF16(-HUGE_VAL)), 0xff80u);
  // The smallest number of bf16, and half of it.
  EXPECT_EQ(bits(truncateToBF16(0x1p-133)), 0x0001u);
  EXPECT_EQ(bits(truncateToBF16(0x1p-134)), 0x0000u);
  uint32_t nan = bits(truncateToBF16(std::nanf("")));
  EXPECT_EQ(nan & 0x7f80u, 0x7f80u);
  EXPECT_NE(nan & 0x007fu, 0u);
}
