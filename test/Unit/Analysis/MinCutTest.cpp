//===- MinCutTest.cpp - Tests of minimum cuts -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/MinCut.h"
#include "gtest/gtest.h"
#include <optional>
#include <random>

using namespace mlir::fad;

namespace {

struct Arc {
  unsigned from, to;
  Cost capacity;
};

/// The cost of the cut in which the nodes of the bit set `sinkSide` are on the
/// side of the sink.
Cost getCost(llvm::ArrayRef<Arc> arcs, unsigned sinkSide) {
  Cost cost;
  for (const Arc &arc : arcs)
    if (!(sinkSide >> arc.from & 1) && (sinkSide >> arc.to & 1))
      cost += arc.capacity;
  return cost;
}

TEST(MinCut, TellsBytesBeforeTime) {
  // Two ways through the middle: fewer bytes win over less time, and time
  // decides among equal bytes.
  MinCut network;
  for (unsigned i = 0; i < 4; ++i)
    network.addNode();
  network.addEdge(0, 1, {8, 0});
  network.addEdge(1, 2, {4, 100});
  network.addEdge(2, 3, {4, 99});
  EXPECT_EQ(network.solve(0, 3), (Cost{4, 99}));
  EXPECT_FALSE(network.isOnSinkSide(2));
  EXPECT_TRUE(network.isOnSinkSide(3));
}

TEST(MinCut, PrefersTheCutNextToTheSink) {
  MinCut network;
  for (unsigned i = 0; i < 4; ++i)
    network.addNode();
  for (unsigned i = 0; i < 3; ++i)
    network.addEdge(i, i + 1, {1, 1});
  EXPECT_EQ(network.solve(0, 3), (Cost{1, 1}));
  EXPECT_FALSE(network.isOnSinkSide(2));
}

TEST(MinCut, TellsThatThereIsNoFiniteCut) {
  MinCut network;
  for (unsigned i = 0; i < 3; ++i)
    network.addNode();
  network.addEdge(0, 1, Cost::infinite());
  network.addEdge(0, 1, Cost::infinite());
  network.addEdge(1, 2, Cost::infinite());
  EXPECT_TRUE(network.solve(0, 2).isInfinite);
  EXPECT_FALSE(network.isOnSinkSide(0));
  EXPECT_TRUE(network.isOnSinkSide(1));
  EXPECT_TRUE(network.isOnSinkSide(2));
}

TEST(MinCut, AddsCostsOfSixtyBits) {
  // Sums of what two costs have are beyond 64 bits, and differ by one byte.
  constexpr Cost::Count large = Cost::Count(1) << 62;
  MinCut network;
  for (unsigned i = 0; i < 3; ++i)
    network.addNode();
  for (unsigned i = 0; i < 100; ++i) {
    network.addEdge(0, 1, {large, 0});
    network.addEdge(1, 2, {i == 0 ? large - 1 : large, 0});
  }
  network.addEdge(0, 2, {large, large});
  EXPECT_EQ(network.solve(0, 2), (Cost{101 * large - 1, large}));
  EXPECT_FALSE(network.isOnSinkSide(1));
}

TEST(MinCut, NothingToCut) {
  MinCut network;
  network.addNode();
  network.addNode();
  EXPECT_EQ(network.solve(0, 1), Cost());
  EXPECT_FALSE(network.isOnSinkSide(0));
  EXPECT_TRUE(network.isOnSinkSide(1));
}

TEST(MinCut, LongChains) {
  // Deeper than a call stack.
  constexpr unsigned length = 200000;
  MinCut network;
  network.addNode();
  for (unsigned i = 1; i <= length; ++i) {
    network.addNode();
    network.addEdge(i - 1, i, {i == length / 2 ? 1 : 2, 0});
  }
  EXPECT_EQ(network.solve(0, length), (Cost{1, 0}));
}

TEST(MinCut, EqualsExhaustiveSearch) {
  std::mt19937 random(7);
  auto draw = [&](unsigned n) { return unsigned(random() % n); };
  for (unsigned trial = 0; trial < 500; ++trial) {
    // Sizes of 2^30 to 2^62 bytes cost as small ones do.
    const Cost::Count unit = trial % 2 ? Cost::Count(1) << (30 + draw(33)) : 1;
    unsigned numNodes = 2 + draw(7);
    MinCut network;
    for (unsigned i = 0; i < numNodes; ++i)
      network.addNode();
    llvm::SmallVector<Arc> arcs;
    for (unsigned i = 0, e = draw(20); i < e; ++i) {
      Arc arc{draw(numNodes), draw(numNodes), {draw(4) * unit, draw(4) * unit}};
      if (draw(8) == 0)
        arc.capacity = Cost::infinite();
      network.addEdge(arc.from, arc.to, arc.capacity);
      arcs.push_back(arc);
    }
    std::optional<Cost> least;
    for (unsigned set = 0; set < 1u << numNodes; ++set)
      if (!(set & 1) && (set & 2)) // node 0 is the source, node 1 the sink
        if (Cost cost = getCost(arcs, set); !least || cost < *least)
          least = cost;
    Cost found = network.solve(0, 1);
    EXPECT_EQ(found.isInfinite, least->isInfinite) << "trial " << trial;
    if (found.isInfinite)
      continue;
    EXPECT_EQ(found, *least) << "trial " << trial;
    unsigned set = 0;
    for (unsigned i = 0; i < numNodes; ++i)
      set |= network.isOnSinkSide(i) << i;
    EXPECT_EQ(getCost(arcs, set), *least) << "trial " << trial;
  }
}

} // namespace
