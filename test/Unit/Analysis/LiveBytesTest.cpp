//===- LiveBytesTest.cpp - Tests of bytes over a schedule -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/LiveBytes.h"
#include "gtest/gtest.h"
#include <random>
#include <vector>

using namespace mlir::fad;

TEST(LiveBytesTest, nothingIsLive) {
  EXPECT_EQ(LiveBytes(0).getPeak().bytes, 0);
  EXPECT_TRUE(LiveBytes(0).get().empty());
  EXPECT_EQ(LiveBytes(3).getPeak().bytes, 0);
  EXPECT_EQ(LiveBytes(3).getPeak().step, 0u);
}

TEST(LiveBytesTest, lastStepIsIncluded) {
  LiveBytes live(4);
  live.add(3, 0, 1);
  live.add(5, 2, 2);
  EXPECT_EQ(live.getPeak().bytes, 5);
  live.add(4, 1, 3);
  EXPECT_EQ(live.get(), (llvm::SmallVector<LiveBytes::Count>{3, 7, 9, 4}));
  EXPECT_EQ(live.getPeak().step, 2u);
}

TEST(LiveBytesTest, firstOfEqualPeaks) {
  LiveBytes live(5);
  live.add(2, 3, 4);
  live.add(2, 1, 1);
  EXPECT_EQ(live.getPeak().bytes, 2);
  EXPECT_EQ(live.getPeak().step, 1u);
}

TEST(LiveBytesTest, sumsBeyond64Bits) {
  LiveBytes live(2);
  LiveBytes::Count size = std::numeric_limits<int64_t>::max();
  for (unsigned i = 0; i < 4; ++i)
    live.add(size, 0, 0);
  live.add(1, 0, 1);
  EXPECT_EQ(live.getPeak().bytes, 4 * size + 1);
  EXPECT_EQ(live.get().back(), 1);
}

// Against the sum over all buffers, at each step.
TEST(LiveBytesTest, randomBuffers) {
  std::mt19937 random(0);
  for (unsigned trial = 0; trial < 200; ++trial) {
    unsigned numSteps = 1 + random() % 20;
    LiveBytes live(numSteps);
    std::vector<LiveBytes::Count> expected(numSteps);
    for (unsigned buffer = random() % 30; buffer > 0; --buffer) {
      unsigned first = random() % numSteps;
      unsigned last = first + random() % (numSteps - first);
      LiveBytes::Count bytes = random() % 100;
      live.add(bytes, first, last);
      for (unsigned step = first; step <= last; ++step)
        expected[step] += bytes;
    }
    LiveBytes::Peak peak = live.getPeak();
    for (unsigned step = 0; step < numSteps; ++step) {
      EXPECT_LE(expected[step], peak.bytes);
      if (step < peak.step)
        EXPECT_LT(expected[step], peak.bytes);
    }
    EXPECT_EQ(expected[peak.step], peak.bytes);
  }
}
