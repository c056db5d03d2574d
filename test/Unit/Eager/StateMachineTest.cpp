//===- StateMachineTest.cpp - Transitions of eager sequences --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateMachineCases.h"
#include "gtest/gtest.h"
#include <set>

using namespace fad::eager;

namespace {

/// Every operand that there is: two plain values, and fad values of the first,
/// of the second, and of both.
std::vector<Operand> allOperands() {
  std::vector<Operand> all = {plain(0), plain(1)};
  for (Derivative derivative : derivatives)
    for (bool isPiecewise : {false, true})
      for (Sources sources :
           {Sources{node(0)}, Sources{node(1)}, Sources{node(0), node(1)}})
        all.push_back(fadTensor(2, derivative, sources, isPiecewise));
  return all;
}

TEST(StateMachine, OneOperandUnderFad) {
  // Rows are kinds without Other, columns the operand: plain, or fad with a
  // number, what an operator saved, or a tensor.
  constexpr Derivative N = Derivative::Number, O = Derivative::Operator,
                       T = Derivative::Tensor;
  const Derivative expected[4][4] = {
      {N, N, O, T}, {O, O, T, T}, {O, O, T, T}, {O, O, T, T}};
  for (int kind = 1; kind < 5; ++kind)
    for (int column = 0; column < 4; ++column) {
      Operand operand =
          column ? fadTensor(1, derivatives[column - 1]) : plain(0);
      Decision decision = decide(Policy::Fad, kinds[kind], {operand});
      EXPECT_EQ(decision.state, column ? State::YY : State::NY);
      EXPECT_EQ(decision.sources, Sources{node(0)});
      EXPECT_EQ(decision.derivative, expected[kind - 1][column])
          << kind << column;
      EXPECT_EQ(decision.derives(), column && decision.derivative == T);
    }
}

TEST(StateMachine, DerivativesTakeNoMoreThanWhatIsSaved) {
  const int memory = 0;
  Source source = node(0);
  source.memory = &memory;
  source.bytes = 8;
  Operation operation = {Kind::Nonlinear};
  operation.result = 8;
  Operand operand = fadTensor(1, Derivative::Operator, {source});
  auto next = [&] {
    return fad::eager::decide(Policy::Fad, operation, {operand}).state;
  };
  // The product with a second constant: eager PyTorch saves the constants
  // alone.
  EXPECT_EQ(next(), State::YN);
  operand.saved = 8;
  EXPECT_EQ(next(), State::YY);
  operation.result = 16; // a wider type
  EXPECT_EQ(next(), State::YN);
  // A reader of the result may save it, too.
  operation.savedResult = 16;
  EXPECT_EQ(next(), State::YN);
  operation.savedOperands = 16;
  EXPECT_EQ(next(), State::YY);
  // Backward computes from a leaf again, but not past a value that something
  // has read, nor with constants that eager PyTorch frees.
  operand = fadTensor(1, Derivative::Operator);
  operation.savedOperands = 0;
  EXPECT_EQ(next(), State::YY);
  operand.isRead = true;
  EXPECT_EQ(next(), State::YN);
  operand.isRead = false;
  operation.savedResult = 0;
  operation.constants = 4;
  EXPECT_EQ(next(), State::YN);
}

TEST(StateMachine, ConstantsCount) {
  // Sums of a value with constants, which eager PyTorch does not save.
  Ending ending = {
      Derivative::Operator, false, Saves::Input, true, false, true};
  ending.value = ending.sources = ending.saved = 8;
  ending.constants = 8;
  EXPECT_TRUE(finish(Policy::Auto, ending).recomputes);
  ending.constants = 16;
  EXPECT_FALSE(finish(Policy::Auto, ending).recomputes);
  EXPECT_EQ(finishWhole(Policy::Auto, ending).kept, Kept::Operator);
  Operation operation = {Kind::Nonlinear};
  operation.constants = 8;
  Operand operand = fadTensor(1, Derivative::Steps);
  EXPECT_EQ(fad::eager::decide(Policy::Auto, operation, {operand}).state,
            State::YN);
  operand.saved = 8;
  EXPECT_EQ(fad::eager::decide(Policy::Auto, operation, {operand}).state,
            State::YY);
}

TEST(StateMachine, TwoOperandsOfOneSourceUnderFad) {
  for (Derivative a :
       {Derivative::Number, Derivative::Operator, Derivative::Tensor})
    for (Derivative b :
         {Derivative::Number, Derivative::Operator, Derivative::Tensor})
      for (Kind kind : {Kind::Linear, Kind::Product, Kind::Nonlinear}) {
        bool isNumber =
            kind == Kind::Linear && a == b && a == Derivative::Number;
        Decision decision =
            decide(Policy::Fad, kind, {fadTensor(1, a), fadTensor(2, b)});
        EXPECT_EQ(decision.state, State::YY);
        EXPECT_EQ(decision.derivative,
                  isNumber ? Derivative::Number : Derivative::Tensor);
      }
  // The source itself counts, with derivative 1.
  Decision decision = decide(Policy::Fad, Kind::Product,
                             {plain(0), fadTensor(1, Derivative::Operator)});
  EXPECT_EQ(decision.state, State::YY);
  EXPECT_EQ(decision.derivative, Derivative::Tensor);
  // A square starts a sequence, and its own node is its derivative.
  decision = decide(Policy::Fad, Kind::Product, {plain(0), plain(0)});
  EXPECT_EQ(decision.state, State::NY);
  EXPECT_EQ(decision.derivative, Derivative::Operator);
}

TEST(StateMachine, SumsWithTheSource) {
  // A residual connection: the source of the sum needs no elements.
  for (Derivative source : {Derivative::Number, Derivative::Steps}) {
    std::vector<Operand> residual = {fadTensor(1, source),
                                     fadTensor(2, Derivative::Operator)};
    Derivative expected =
        source == Derivative::Number ? Derivative::Operator : Derivative::Steps;
    EXPECT_EQ(decide(Policy::Auto, Kind::Linear, residual).derivative,
              expected);
    std::swap(residual[0], residual[1]);
    EXPECT_EQ(decide(Policy::Auto, Kind::Linear, residual).derivative,
              expected);
    // The product needs them.
    EXPECT_EQ(decide(Policy::Auto, Kind::Product, residual).derivative,
              Derivative::Steps);
  }
  // Multiples of one result.
  std::vector<Operand> multiples(2, fadTensor(2, Derivative::Operator));
  for (Operand &each : multiples)
    each.isPiecewise = false;
  EXPECT_EQ(decide(Policy::Auto, Kind::Linear, multiples).derivative,
            Derivative::Steps);
  for (Operand &each : multiples)
    each.operatorNumber = 7;
  EXPECT_EQ(decide(Policy::Auto, Kind::Linear, multiples).derivative,
            Derivative::Operator);
  EXPECT_EQ(decide(Policy::Auto, Kind::Product, multiples).derivative,
            Derivative::Steps);
  multiples[1].operatorNumber = 8;
  EXPECT_EQ(decide(Policy::Auto, Kind::Linear, multiples).derivative,
            Derivative::Steps);
  // The policy fad has one tensor.
  EXPECT_EQ(decide(Policy::Fad, Kind::Linear,
                   {plain(0), fadTensor(2, Derivative::Operator)})
                .derivative,
            Derivative::Tensor);
  // Two values of the sum's derivative take a bit, and leaves none.
  Ending ending = {Derivative::Operator, true, Saves::Result};
  ending.sources = ending.saved = ending.value = 8;
  EXPECT_EQ(finish(Policy::Auto, ending).kept, Kept::Operator);
  ending.isSum = true;
  EXPECT_EQ(finish(Policy::Auto, ending).kept, Kept::Bits);
  ending.sources = ending.saved = 0;
  EXPECT_EQ(finish(Policy::Auto, ending).kept, Kept::Operator);
}

TEST(StateMachine, TwoSources) {
  std::vector<Operand> gated = {fadTensor(2, Derivative::Operator), plain(1)};
  for (Kind kind : {Kind::Linear, Kind::Product, Kind::Nonlinear}) {
    EXPECT_EQ(decide(Policy::Fad, kind, gated).state, State::YN);
    EXPECT_EQ(decide(Policy::Auto, kind, gated).state,
              kind == Kind::Linear ? State::YN : State::YY);
  }
  Decision decision = decide(Policy::Auto, Kind::Product, gated);
  EXPECT_EQ(decision.sources, (Sources{node(0), node(1)}));
  EXPECT_EQ(decision.derivative, Derivative::Steps);
  // What follows has the same sources.
  decision = decide(Policy::Auto, Kind::Linear,
                    {fadTensor(3, Derivative::Steps, decision.sources)});
  EXPECT_EQ(decision.state, State::YY);
  EXPECT_EQ(decision.derivative, Derivative::Steps);
  // A scaled source is as large as the source.
  EXPECT_EQ(decide(Policy::Auto, Kind::Product,
                   {fadTensor(2, Derivative::Number), plain(1)})
                .state,
            State::YN);
  // There may be four, and a fifth ends it.
  Sources four = {node(0), node(1), node(2), node(3)};
  EXPECT_EQ(
      decide(Policy::Auto, Kind::Product,
             {fadTensor(3, Derivative::Steps, {node(0), node(1)}), plain(4)})
          .sources.size(),
      3u);
  EXPECT_EQ(decide(Policy::Auto, Kind::Product,
                   {fadTensor(3, Derivative::Steps, four), plain(4)})
                .state,
            State::YN);
  // A product of two starts a sequence under Auto, and a sum does not.
  for (Kind kind : {Kind::Linear, Kind::Product})
    EXPECT_EQ(decide(Policy::Auto, kind, {plain(0), plain(1)}).state,
              kind == Kind::Product ? State::NY : State::NN);
  // Inputs of one node are different sources.
  Operand first = plain(0), second = plain(0);
  second.self.input = 1;
  EXPECT_EQ(decide(Policy::Fad, Kind::Product, {first, second}).state,
            State::NN);
}

TEST(StateMachine, KeepsNoMoreThanNodesSave) {
  auto sourceOf = [](int index, int64_t bytes) {
    Source source = node(index);
    source.memory = &nodes[index];
    source.bytes = bytes;
    return source;
  };
  auto next = [&](Sources sources, int64_t before, int64_t operands,
                  int64_t result) {
    Operand operand = fadTensor(1, Derivative::Operator, sources);
    operand.saved = before;
    Operation operation = {Kind::Nonlinear, false, false, operands, result};
    return fad::eager::decide(Policy::Auto, operation, {operand});
  };
  // The product of a source and two constants saves the constants alone.
  EXPECT_EQ(next({sourceOf(0, 8)}, 0, 0, 0).state, State::YN);
  EXPECT_EQ(next({sourceOf(0, 8)}, 4, 0, 0).state, State::YN);
  EXPECT_EQ(next({sourceOf(0, 8)}, 8, 0, 0).state, State::YY);
  EXPECT_EQ(next({sourceOf(0, 8)}, 8, 0, 4).saved, 12);
  EXPECT_EQ(next({sourceOf(0, 8)}, 4, 8, 0).saved, 8);
  // A reader may save the result as well.
  EXPECT_EQ(next({sourceOf(0, 8)}, 4, 0, 4).state, State::YN);
  // Parts of one tensor are kept together, and a leaf is there anyway.
  EXPECT_EQ(next({sourceOf(0, 8), sourceOf(1, 8)}, 8, 0, 0).state, State::YN);
  Source part = sourceOf(1, 8);
  part.memory = &nodes[0];
  EXPECT_EQ(next({sourceOf(0, 8), part, node(2)}, 8, 0, 0).state, State::YY);
  // A value that takes less than the source is kept by its reader.
  Ending cast = {Derivative::Operator, false, Saves::Nothing, true, true, true};
  cast.sources = 8;
  cast.value = 4;
  EXPECT_FALSE(finish(Policy::Auto, cast).recomputes);
  cast.value = 8;
  EXPECT_TRUE(finish(Policy::Auto, cast).recomputes);
  Ending linear = {
      Derivative::Operator, false, Saves::Result, true, false, true};
  linear.sources = 8;
  linear.value = linear.saved = 2;
  EXPECT_EQ(finish(Policy::Auto, linear).kept, Kept::Operator);
  linear.saved = 6;
  EXPECT_EQ(finish(Policy::Auto, linear).kept, Kept::Sources);
}

TEST(StateMachine, EveryTransition) {
  auto check = [](Policy policy, Kind kind,
                  const std::vector<Operand> &operands) {
    Decision decision = decide(policy, kind, operands);
    bool hasFAD = false, hasSteps = false;
    std::set<std::pair<const void *, uint32_t>> sources;
    for (const Operand &operand : operands) {
      hasFAD |= operand.isFAD;
      hasSteps |= operand.isFAD && operand.derivative == Derivative::Steps;
      for (const Source &source :
           operand.isFAD ? operand.sources : Sources{operand.self})
        sources.insert({source.node, source.input});
    }
    // The state is that of the operands and the operator, unless sources are
    // too many.
    if (decision.isFAD()) {
      EXPECT_NE(kind, Kind::Other);
      EXPECT_EQ(decision.state, hasFAD ? State::YY : State::NY);
      EXPECT_EQ(decision.sources.size(), sources.size());
      EXPECT_LE(sources.size(), policy == Policy::Auto ? Sources::most : 1u);
    } else {
      EXPECT_EQ(decision.state, hasFAD ? State::YN : State::NN);
      EXPECT_TRUE(kind == Kind::Other || operands.empty() ||
                  (kind == Kind::Rowwise && policy == Policy::Fad) ||
                  sources.size() > 1);
      EXPECT_FALSE(decision.derives());
      return;
    }
    // NY saves what the framework does.
    if (!hasFAD) {
      EXPECT_TRUE(decision.derivative == Derivative::Number ||
                  decision.derivative == Derivative::Operator);
    }
    // Steps come from Auto, and remain.
    if (decision.derivative == Derivative::Steps) {
      EXPECT_TRUE(policy == Policy::Auto || hasSteps);
    }
    if (hasSteps) {
      EXPECT_EQ(decision.derivative, Derivative::Steps);
    }
    // Auto has tensors where bits can stand for them alone.
    if (policy == Policy::Auto && decision.derives() && operands.size() == 2) {
      EXPECT_TRUE(decision.isPiecewise);
    }
  };
  std::vector<Operand> all = allOperands();
  for (Policy policy : {Policy::Fad, Policy::Auto})
    for (Kind kind : kinds) {
      check(policy, kind, {});
      for (const Operand &first : all) {
        check(policy, kind, {first});
        for (const Operand &second : all)
          check(policy, kind, {first, second});
      }
    }
}

void checkEnding(const Ending &ending) {
  Choice fad = finish(Policy::Fad, ending), best = finish(Policy::Auto, ending);
  bool isTensor = ending.derivative == Derivative::Tensor;
  bool isOperator = ending.derivative == Derivative::Operator;
  // Few bits take the place of a tensor that nothing else needs.
  if (ending.hasLevels) {
    Ending exact = ending;
    exact.hasLevels = false;
    for (Policy policy : {Policy::Fad, Policy::Auto}) {
      Choice choice = finish(policy, ending), without = finish(policy, exact);
      EXPECT_FALSE(choice.kept == Kept::Tensor ||
                   reason(policy, ending, choice).empty());
      bool isSame = choice.kept == without.kept &&
                    choice.recomputes == without.recomputes;
      EXPECT_EQ(choice.kept == Kept::Levels, !isSame);
      EXPECT_FALSE(without.recomputes && !isSame);
    }
    return;
  }
  EXPECT_FALSE(reason(Policy::Fad, ending, fad).empty());
  EXPECT_FALSE(reason(Policy::Auto, ending, best).empty());
  // The paper's policy leaves what the reader saves.
  EXPECT_FALSE(fad.recomputes && ending.derivative != Derivative::Steps);
  EXPECT_EQ(fad.kept == Kept::Tensor, isTensor);
  bool isShared = isOperator && ending.isLast && ending.saves == Saves::Result;
  EXPECT_EQ(best.kept == Kept::Bits,
            ending.isPiecewise &&
                (isTensor || (isShared && !ending.readerSaves)));
  // Bits take the place of a result, unless the reader saves that, too.
  EXPECT_EQ(waitsForReader(ending), isShared && !ending.readerSaves);
  // A value is computed again from a source that is there if the reader saves
  // it, or a later one may, and not if the operator saves it anyway.
  if (best.recomputes) {
    EXPECT_TRUE(ending.readerSaves || (ending.derivative == Derivative::Steps &&
                                       ending.inputs() > ending.paid));
    EXPECT_FALSE(isShared);
    EXPECT_TRUE(best.kept == Kept::Sources ||
                (best.kept == Kept::Operator && ending.isFirst &&
                 ending.saves != Saves::Result));
  }
}

TEST(StateMachine, EveryEnding) {
  for (Derivative derivative : derivatives)
    for (bool isPiecewise : {false, true})
      for (Saves saves :
           {Saves::Nothing, Saves::Input, Saves::Result, Saves::Constant})
        for (int where = 0; where < 4; ++where)
          for (bool readerSaves : {false, true})
            for (bool hasLevels : {false, true})
              for (int64_t paid : {0, 4}) {
                bool isFirst = where & 1, isLast = where & 2;
                Ending ending = {derivative, isPiecewise, saves,    isFirst,
                                 isLast,     readerSaves, hasLevels};
                ending.sources = ending.value = ending.saved = 4;
                ending.paid = paid;
                checkEnding(ending);
              }
}

TEST(StateMachine, LeavesTakeNoBytes) {
  // Two readers of an operator that saves a leaf, as the sum of |x| and |x|.
  for (bool readerSaves : {false, true})
    for (bool hasLevels : {false, true}) {
      Ending ending = {Derivative::Tensor, /*isPiecewise=*/true};
      ending.readerSaves = readerSaves;
      ending.hasLevels = hasLevels;
      ending.value = 4;
      for (Choice choice :
           {finish(Policy::Auto, ending), finishWhole(Policy::Auto, ending)}) {
        EXPECT_EQ(choice.kept, Kept::Sources);
        EXPECT_EQ(choice.recomputes, readerSaves);
        EXPECT_EQ(reason(Policy::Auto, ending, choice).find("leaf") !=
                      std::string_view::npos,
                  !readerSaves);
      }
      ending.saved = 4;
      EXPECT_EQ(finish(Policy::Auto, ending).kept, Kept::Bits);
    }
  // Under Fad, backward runs the operators again where nothing is saved.
  Ending fad = {Derivative::Tensor};
  fad.value = 4;
  EXPECT_EQ(finish(Policy::Fad, fad).kept, Kept::Sources);
  fad.saved = fad.paid = 4;
  EXPECT_EQ(finish(Policy::Fad, fad).kept, Kept::Tensor);
  // One operator's own node refers to the leaf.
  Ending ending = {Derivative::Operator, true, Saves::Input, true, true};
  ending.isSingle = true;
  ending.value = 4;
  EXPECT_EQ(finishWhole(Policy::Auto, ending).kept, Kept::Operator);
}

/// What a choice keeps, in tensors. `isThere` says whether others have what the
/// operator saves, where that is the source or the value.
double count(const Ending &ending, const Choice &choice, bool isThere) {
  double kept = ending.readerSaves && !choice.recomputes;
  bool isShared =
      isThere && ((ending.saves == Saves::Input && ending.isFirst) ||
                  (ending.saves == Saves::Result && ending.isLast));
  bool isValue =
      ending.saves == Saves::Result && ending.isLast && ending.readerSaves;
  switch (choice.kept) {
  case Kept::Number:
    return kept;
  case Kept::Operator:
    if (choice.recomputes && ending.saves == Saves::Constant)
      return kept + 2;
    return kept + !(isShared || isValue);
  case Kept::Operators:
    ADD_FAILURE() << "what all operators saved is no choice of the machine";
    break;
  case Kept::Tensor:
    return kept + 1;
  case Kept::Bits:
    return kept + 1 / 32.;
  case Kept::Levels:
    return kept + 1 / 4.;
  case Kept::Sources:
    // A constant of a product is needed, too.
    return kept + (ending.saves == Saves::Constant ? 2 : 1) -
           (isThere && ending.isFirst);
  }
  return 0;
}

TEST(StateMachine, SequencesAsAWholeKeepNoMore) {
  for (Derivative derivative :
       {Derivative::Operator, Derivative::Tensor, Derivative::Steps})
    for (Policy policy : {Policy::Fad, Policy::Auto})
      for (Saves saves : {Saves::Input, Saves::Result, Saves::Constant})
        for (int bits = 0; bits < 64; ++bits) {
          Ending ending = {derivative,     bool(bits & 1), saves,
                           bool(bits & 2), bool(bits & 4), bool(bits & 8),
                           bool(bits & 16)};
          ending.isSingle = ending.isFirst && ending.isLast;
          ending.saved = ending.value = 1;
          Choice whole = finishWhole(policy, ending),
                 other = finish(policy, ending);
          EXPECT_FALSE(reason(policy, ending, whole).empty());
          EXPECT_FALSE(whole.recomputes && !ending.readerSaves);
          // An operator's node is all that is left of one that is not linear.
          EXPECT_TRUE(whole.kept != Kept::Operator ||
                      derivative == Derivative::Operator);
          // A bit is more than what others have, and constants have no two
          // values.
          if ((bits & 32 && whole.kept == Kept::Bits &&
               other.kept == Kept::Operator) ||
              (saves == Saves::Constant && ending.isPiecewise))
            continue;
          EXPECT_LE(count(ending, whole, bits & 32),
                    count(ending, other, bits & 32))
              << int(derivative) << int(policy) << int(saves) << " " << bits;
        }
}

} // namespace
