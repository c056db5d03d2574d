//===- MemoryTest.cpp - Buffers are aligned, counted and used again -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Memory.h"
#include "gtest/gtest.h"
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

using namespace mlir::fad;

static constexpr size_t kMegabyte = 1 << 20;

TEST(MemoryTest, BuffersAreAlignedAndCounted) {
  for (size_t bytes :
       {size_t(0), size_t(1), size_t(100), kMegabyte, kMegabyte + 1}) {
    size_t before = getBufferBytes();
    void *buffer = allocateBuffer(bytes);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 64, 0u);
    EXPECT_EQ(getBufferBytes(), before + bytes);
    std::memset(buffer, 1, bytes);
    freeBuffer(buffer);
    EXPECT_EQ(getBufferBytes(), before);
  }
  EXPECT_EQ(allocateBuffer(std::numeric_limits<size_t>::max()), nullptr);
  freeBuffer(nullptr);
}

// The system would give more, as long as nobody writes to it.
TEST(MemoryTest, BuffersTakeNoMoreThanThereIs) {
  size_t third = getMemoryLimit() / 3;
  std::vector<void *> buffers;
  while (void *buffer = buffers.size() < 4 ? allocateBuffer(third) : nullptr)
    buffers.push_back(buffer);
  EXPECT_LT(buffers.size(), 4u);
  for (void *buffer : buffers)
    freeBuffer(buffer);
  releaseFreeBuffers();
  EXPECT_NE(third, 0u);
}

TEST(MemoryTest, LargeBuffersAreUsedAgain) {
  releaseFreeBuffers();
  void *first = allocateBuffer(kMegabyte);
  freeBuffer(first);
  // A little smaller fits, half as large does not.
  void *second = allocateBuffer(kMegabyte - 1000);
  EXPECT_EQ(second, first);
  void *other = allocateBuffer(kMegabyte / 2);
  EXPECT_NE(other, first);
  retainBuffer(second);
  freeBuffer(second);
  void *third = allocateBuffer(kMegabyte);
  EXPECT_NE(third, second);
  for (void *buffer : {second, third, other})
    freeBuffer(buffer);
  releaseFreeBuffers();
}

TEST(MemoryTest, WhatIsKeptTakesNoMoreThanThePeak) {
  releaseFreeBuffers();
  void *first = allocateBuffer(kMegabyte);
  std::memset(first, 1, kMegabyte);
  freeBuffer(first);
  EXPECT_EQ(getFreeBufferBytes(), kMegabyte + 64);
  // One of another size would take the two of them above the peak.
  void *second = allocateBuffer(3 * kMegabyte);
  EXPECT_EQ(getFreeBufferBytes(), 0u);
  freeBuffer(second);
  EXPECT_EQ(getFreeBufferBytes(), 3 * kMegabyte + 64);
  // A small one does not take the place of a large one, which goes.
  void *third = allocateBuffer(kMegabyte);
  EXPECT_EQ(getFreeBufferBytes(), 0u);
  freeBuffer(third);
  releaseFreeBuffers();
  EXPECT_EQ(getFreeBufferBytes(), 0u);
}

TEST(MemoryTest, ThreadsMayAllocateAtATime) {
  size_t before = getBufferBytes();
  std::vector<std::thread> threads;
  for (unsigned char number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (size_t i = 0; i < 200; ++i) {
        size_t bytes = kMegabyte / 8 + 4096 * (i % 7);
        auto *buffer = static_cast<unsigned char *>(allocateBuffer(bytes));
        ASSERT_NE(buffer, nullptr);
        buffer[0] = buffer[bytes - 1] = number;
        std::this_thread::yield();
        EXPECT_EQ(buffer[0], number);
        EXPECT_EQ(buffer[bytes - 1], number);
        freeBuffer(buffer);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(getBufferBytes(), before);
  releaseFreeBuffers();
}
