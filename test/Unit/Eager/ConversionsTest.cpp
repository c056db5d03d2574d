//===- ConversionsTest.cpp - Transitions by casts -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateMachineCases.h"
#include "gtest/gtest.h"

using namespace fad::eager;

namespace {

TEST(StateMachine, Conversions) {
  // A cast is linear. Under Auto, numbers before and after it are not one.
  Operation cast = {Kind::Linear, /*rounds=*/true};
  EXPECT_EQ(fad::eager::decide(Policy::Auto, cast, {plain(0)}).derivative,
            Derivative::Operator);
  EXPECT_EQ(fad::eager::decide(Policy::Fad, cast, {plain(0)}).derivative,
            Derivative::Number);
  EXPECT_EQ(fad::eager::decide(Policy::Auto, cast,
                               {fadTensor(1, Derivative::Operator)})
                .derivative,
            Derivative::Steps);
  EXPECT_EQ(fad::eager::decide(Policy::Fad, cast,
                               {fadTensor(1, Derivative::Operator)})
                .derivative,
            Derivative::Operator);
  // One to a wider type keeps nothing, and sequences begin at its result.
  cast.widens = true;
  for (Policy policy : {Policy::Fad, Policy::Auto})
    EXPECT_EQ(fad::eager::decide(policy, cast, {plain(0)}).derivative,
              Derivative::Number);
  Source widened = node(1);
  widened.root = &nodes[0];
  Operand wide = fadTensor(1, Derivative::Number, {widened});
  EXPECT_EQ(decide(Policy::Auto, Kind::Nonlinear, {wide}).derivative,
            Derivative::Steps);
  EXPECT_EQ(decide(Policy::Fad, Kind::Nonlinear, {wide}).derivative,
            Derivative::Operator);
  EXPECT_EQ(decide(Policy::Auto, Kind::Linear, {wide}).derivative,
            Derivative::Number);
  // A sequence of both ends of a cast has the source alone, unless others
  // begin at the cast, too.
  widened.isCopy = true;
  for (Policy policy : {Policy::Fad, Policy::Auto}) {
    Operand both[] = {plain(0), fadTensor(1, Derivative::Number, {widened})};
    EXPECT_EQ(decide(policy, Kind::Product, {both[0], both[1]}).sources,
              Sources{node(0)});
    widened.isShared = true;
    both[1].sources = {widened};
    EXPECT_EQ(decide(policy, Kind::Product, {both[0], both[1]}).sources.size(),
              policy == Policy::Fad ? 1u : 2u);
    widened.isShared = false;
  }
  // With operators between both, the derivatives are others.
  EXPECT_EQ(decide(Policy::Fad, Kind::Product, {plain(0), wide}).state,
            State::YN);
  EXPECT_EQ(decide(Policy::Auto, Kind::Product, {plain(0), wide}).sources,
            Sources{node(0)});
  // Of two casts, there are no bits.
  Source other = node(2);
  other.root = widened.root;
  std::vector<Operand> casts = {
      fadTensor(1, Derivative::Operator, {widened}, /*isPiecewise=*/true),
      fadTensor(2, Derivative::Operator, {other}, /*isPiecewise=*/true)};
  Decision sum = decide(Policy::Auto, Kind::Linear, casts);
  EXPECT_EQ(sum.sources.size(), 2u);
  EXPECT_FALSE(sum.isPiecewise);
  Ending narrow = {Derivative::Number};
  narrow.readerSaves = narrow.isWidened = true;
  narrow.sources = 4;
  narrow.value = 8;
  EXPECT_TRUE(finish(Policy::Auto, narrow).recomputes);
  EXPECT_FALSE(finish(Policy::Fad, narrow).recomputes);
  narrow.sources = 9;
  EXPECT_FALSE(finish(Policy::Auto, narrow).recomputes);
  // A result that its reader saves, too, takes no bytes.
  Ending last = {Derivative::Operator, false, Saves::Result, true, true};
  last.isWidened = true;
  last.saved = last.value = 2 * (last.sources = 4);
  EXPECT_EQ(finish(Policy::Auto, last).kept, Kept::Operator);
  EXPECT_EQ(last.eager(), last.saved);
  EXPECT_TRUE(waitsForReader(last));
  Choice unsaved = finishUnsaved(last, {Kept::Operator});
  EXPECT_EQ(unsaved.kept, Kept::Sources);
  // A later reader saves it.
  EXPECT_TRUE(unsaved.recomputes);
  last.derivative = Derivative::Steps;
  EXPECT_TRUE(finish(Policy::Auto, last).recomputes);
  last.paid = last.sources;
  EXPECT_FALSE(finish(Policy::Auto, last).recomputes);
  last.readerSaves = true;
  EXPECT_EQ(last.eager(), last.paid + last.value);
  // A derivative that is a tensor is for each element.
  Operation scale = {Kind::Product, false, /*sums=*/true};
  std::vector<Operand> scaled = {fadTensor(2, Derivative::Operator), plain(1)};
  EXPECT_EQ(fad::eager::decide(Policy::Auto, scale, scaled).state, State::YY);
  EXPECT_EQ(fad::eager::decide(Policy::Fad, scale, {plain(0)}).state,
            State::NN);
  EXPECT_EQ(decide(Policy::Fad, Kind::Rowwise, {plain(0)}).state, State::NN);
  EXPECT_EQ(decide(Policy::Auto, Kind::Rowwise, {plain(0)}).state, State::NY);
}

} // namespace
