//===- CompiledSequencesTest.cpp - Kernels by the texts of sequences ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/CompiledSequences.h"
#include "gtest/gtest.h"
#include <thread>

using namespace fad::eager;

namespace {

constexpr Code value = 1, gradient = 2;

TEST(CompiledSequences, KernelsAreAskedForOnceAtTheSecondSighting) {
  CompiledSequences all;
  CompiledSequence *sequence = all.find("a");
  EXPECT_EQ(all.find("a"), sequence);
  EXPECT_NE(all.find("b"), sequence);
  all.see("a", *sequence);
  EXPECT_TRUE(all.isIdle());
  for (int i = 0; i < 3; ++i)
    all.see("a", *sequence);
  EXPECT_FALSE(all.isIdle());
  EXPECT_EQ(all.takeRequest(), "a");
  all.finish("a", value, 0, gradient, {0, 2});
  EXPECT_TRUE(all.isIdle());
  EXPECT_TRUE(sequence->isReady);
  EXPECT_EQ(sequence->value, value);
  EXPECT_EQ(sequence->derivative, 0);
  EXPECT_EQ(sequence->gradient, gradient);
  EXPECT_EQ(sequence->gradientArguments, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(all.countReady(), 1);
}

TEST(CompiledSequences, WhatAnotherProcessHasMetIsAskedForAtTheFirst) {
  CompiledSequences all;
  CompiledSequence *known = all.find("known");
  all.see("known", *known);
  all.expect("known");
  all.expect("new");
  EXPECT_TRUE(all.isIdle());
  all.see("new", *all.find("new"));
  EXPECT_EQ(all.takeRequest(), "new");
  // Its sightings are its own.
  all.see("known", *known);
  EXPECT_EQ(all.takeRequest(), "known");
}

TEST(CompiledSequences, WhatAnotherProcessHasMetOnOneGPUIsExpectedOnEach) {
  CompiledSequences all;
  all.expect("auto Float 1 0 0 cuda\nexp %0");
  std::string key = "auto Float 1 0 0 cuda:3\nexp %0";
  all.see(key, *all.find(key));
  EXPECT_EQ(all.takeRequest(), key);
  for (const char *other :
       {"auto Float 1 0 0\nexp %0", "auto Float 1 0 0 cuda:3\nsin %0"})
    all.see(other, *all.find(other));
  all.finish(key, value, 0, 0, {});
  EXPECT_TRUE(all.isIdle());
}

TEST(CompiledSequences, ThereMayBeNoKernel) {
  CompiledSequences all;
  CompiledSequence *sequence = all.find("a");
  all.see("a", *sequence);
  all.see("a", *sequence);
  EXPECT_EQ(all.takeRequest(), "a");
  EXPECT_FALSE(sequence->isImpossible);
  all.finish("a", 0, 0, 0, {});
  EXPECT_TRUE(all.isIdle());
  EXPECT_TRUE(sequence->isImpossible);
  EXPECT_FALSE(sequence->isReady);
  EXPECT_EQ(all.countReady(), 0);
  all.see("a", *sequence);
  EXPECT_TRUE(all.isIdle());
}

TEST(CompiledSequences, NoneIsAskedForAfterTheEnd) {
  CompiledSequences all;
  auto see = [&](const char *key) {
    all.expect(key);
    all.see(key, *all.find(key));
  };
  for (const char *key : {"taken", "waiting"})
    see(key);
  EXPECT_EQ(all.takeRequest(), "taken");
  all.stop();
  EXPECT_EQ(all.takeRequest(), "");
  see("late");
  EXPECT_EQ(all.takeRequest(), "");
  EXPECT_FALSE(all.isIdle());
  all.finish("taken", value, 0, 0, {});
  EXPECT_TRUE(all.isIdle());
  EXPECT_EQ(all.countReady(), 1);
}

TEST(CompiledSequences, TheEndIsSeenByOneThatWaits) {
  CompiledSequences all;
  std::string taken = "none";
  std::thread compiler([&] { taken = all.takeRequest(); });
  all.stop();
  compiler.join();
  EXPECT_EQ(taken, "");
}

TEST(CompiledSequences, EntriesStayAndAreLimited) {
  CompiledSequences all;
  CompiledSequence *first = all.find("0");
  for (int i = 1; i < 4096; ++i)
    EXPECT_NE(all.find(std::to_string(i)), nullptr);
  EXPECT_EQ(all.find("4096"), nullptr);
  all.expect("4096");
  EXPECT_EQ(all.find("4096"), nullptr);
  EXPECT_EQ(all.find("0"), first);
}

TEST(CompiledSequences, Threads) {
  CompiledSequences all;
  constexpr int count = 50;
  std::thread compiler([&] {
    for (int i = 0; i < count; ++i)
      all.finish(all.takeRequest(), value, 0, gradient, {i});
  });
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user)
    users.emplace_back([&] {
      for (int i = 0; i < count; ++i) {
        std::string key = std::to_string(i);
        CompiledSequence *sequence = all.find(key);
        all.see(key, *sequence);
        if (sequence->isReady.load(std::memory_order_acquire))
          EXPECT_EQ(sequence->value, value);
      }
    });
  for (std::thread &user : users)
    user.join();
  compiler.join();
  EXPECT_TRUE(all.isIdle());
  EXPECT_EQ(all.countReady(), count);
}

} // namespace
