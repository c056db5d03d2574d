//===- StateMachine.cpp - The effect of an operator on a sequence ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "machine/StateMachine.h"

namespace fad::eager {

/// The sources that all operands depend on together, but no more than three. An
/// operand that is no fad tensor is a source itself.
static Sources unite(Policy policy, Operands operands) {
  // Most operators have one operand.
  if (const Operand &first = operands.front(); operands.size() == 1)
    return first.isFAD ? first.sources : Sources{first.self};
  Sources all;
  auto add = [&](const Source &source) {
    if (all.size() <= Sources::most &&
        std::find(all.begin(), all.end(), source) == all.end())
      all.push_back(source);
  };
  for (const Operand &operand : operands) {
    if (!operand.isFAD)
      add(operand.self);
    else
      std::for_each(operand.sources.begin(), operand.sources.end(), add);
  }
  // A derivative is of one source.
  all.joinWidened(/*ofCopies=*/policy == Policy::Fad);
  return all;
}

/// Whether a sequence may have several sources. The gate of a gated activation
/// and what it multiplies are kept, and the product is not; a sum of two
/// sources has nothing to keep.
static bool mayHaveSeveral(Policy policy, Kind kind, Operands operands,
                           const Sources &sources) {
  if (policy != Policy::Auto)
    return false;
  // One may be a copy of another in a wider type, and have its memory.
  auto hasAll = [&](const Operand &operand) {
    return operand.isFAD && operand.sources.bytes() == sources.bytes();
  };
  if (sources.areWidened() &&
      std::any_of(operands.begin(), operands.end(), hasAll))
    return true;
  auto isFAD = [](const Operand &operand) { return operand.isFAD; };
  if (std::none_of(operands.begin(), operands.end(), isFAD))
    return kind != Kind::Linear;
  for (const Operand &operand : operands)
    if (operand.isFAD &&
        (operand.sources.size() > 1 ||
         (kind != Kind::Linear && (operand.derivative != Derivative::Number ||
                                   operand.sources.areWidened()))))
      return true;
  return false;
}

/// Whether the derivatives of all operands are multiples of the same one.
static bool areOfOneOperator(Operands operands) {
  const uint64_t number = operands.front().operatorNumber;
  return number && std::all_of(operands.begin(), operands.end(),
                               [&](const Operand &operand) {
                                 return operand.operatorNumber == number;
                               });
}

/// The derivative of the result where some operand has one.
static Derivative chain(Policy policy, const Operation &operation, Kind kind,
                        Operands operands, const Decision &decision) {
  auto is = [&](Derivative derivative) {
    return [=](const Operand &operand) {
      return operand.isFAD ? operand.derivative == derivative
                           : derivative == Derivative::Number;
    };
  };
  auto begin = operands.begin(), end = operands.end();
  if (decision.sources.size() > 1 ||
      std::any_of(begin, end, is(Derivative::Steps)))
    return Derivative::Steps;
  if (kind == Kind::Linear && operands.size() == 1)
    return operands.front().derivative;
  auto isNumber = is(Derivative::Number), isOperator = is(Derivative::Operator);
  // The operator would save a wider type than that of the source.
  bool savesMore = policy == Policy::Auto && decision.sources.areWidened();
  if (std::all_of(begin, end, isNumber)) {
    if (kind == Kind::Linear)
      return Derivative::Number;
    // A reader may save a result as well.
    if (operands.size() == 1 && (!savesMore || operation.savedResult))
      return Derivative::Operator;
  }
  // A sum with the source needs no elements of that, and neither does one of
  // multiples of the same result.
  if (policy == Policy::Auto && kind == Kind::Linear && !savesMore &&
      operands.size() == 2 && std::any_of(begin, end, isOperator) &&
      (std::any_of(begin, end, isNumber) || areOfOneOperator(operands)))
    return Derivative::Operator;
  return policy == Policy::Fad || (decision.isPiecewise && !savesMore)
             ? Derivative::Tensor
             : Derivative::Steps;
}

Kind kindOf(Policy policy, const Operation &operation) {
  if (operation.widens)
    return Kind::Linear;
  // Eager PyTorch rounds and sums gradients between factors, which are one
  // number otherwise. The policy fad rounds derivatives.
  bool isNonlinear = operation.kind == Kind::Piecewise ||
                     (operation.kind == Kind::Linear && policy == Policy::Auto);
  return (operation.rounds || operation.sums) && isNonlinear ? Kind::Nonlinear
                                                             : operation.kind;
}

Decision decide(Policy policy, const Operation &operation, Operands operands) {
  Decision decision;
  Kind kind = operation.kind;
  bool hasFAD = false, isPiecewise = true;
  for (const Operand &operand : operands) {
    hasFAD |= operand.isFAD;
    isPiecewise &= !operand.isFAD || operand.isPiecewise;
    decision.saved = std::max(decision.saved, operand.saved);
  }
  decision.state = hasFAD ? State::YN : State::NN;
  if (kind == Kind::Other || operands.empty())
    return decision;
  Sources sources = unite(policy, operands);
  if (sources.size() > Sources::most ||
      (sources.size() > 1 && !mayHaveSeveral(policy, kind, operands, sources)))
    return decision;
  // A derivative that is one tensor is multiplied by element by element.
  if (policy == Policy::Fad && (operation.sums || kind == Kind::Rowwise))
    return decision;
  kind = kindOf(policy, operation);
  decision.paid = std::max(decision.saved, operation.savedOperands);
  decision.saved = decision.paid + operation.savedResult;
  decision.sources = sources;
  // Bits are of one derivative.
  decision.isPiecewise = isPiecewise && sources.size() == 1 &&
                         (kind == Kind::Linear || kind == Kind::Piecewise);
  if (hasFAD)
    decision.derivative = chain(policy, operation, kind, operands, decision);
  else
    // The operator's own node is the derivative, whatever the number of
    // operands.
    decision.derivative =
        kind == Kind::Linear ? Derivative::Number : Derivative::Operator;
  // A value of leaves alone is computed from them again.
  bool hasLeaves =
      decision.paid == 0 && sources.bytes() == 0 &&
      std::none_of(operands.begin(), operands.end(),
                   [](const Operand &operand) { return operand.isRead; });
  bool isTensor = decision.derivative == Derivative::Tensor;
  // A later reader may save the result, too.
  if ((decision.derivative == Derivative::Steps || (isTensor && hasLeaves)) &&
      sources.bytes() + operation.constants > decision.paid)
    return decision;
  if (policy == Policy::Fad && isTensor && !hasLeaves &&
      operation.result > decision.paid)
    return decision;
  decision.state = hasFAD ? State::YY : State::NY;
  return decision;
}

/// Whether the one nonlinear operator saves its result, where the source takes
/// fewer bytes as it has a narrower type.
static bool isNarrowerThanResult(const Ending &ending) {
  return ending.isWidened && ending.saves == Saves::Result &&
         ending.inputs() <= ending.saved;
}

/// Whether eager PyTorch saves leaves and constants alone, which are there
/// anyway.
static bool savesLeavesAlone(const Ending &ending) {
  return ending.saved == 0 && ending.sources == 0;
}

/// Tensors kept of a sequence with one nonlinear operator, under Auto.
static Choice finishOperator(const Ending &ending) {
  // A source of a narrower type takes fewer bytes than the result, unless a
  // reader keeps that anyway.
  if (isNarrowerThanResult(ending) && (ending.readerSaves || !ending.isLast))
    return {Kept::Sources, ending.readerSaves};
  if (ending.savesValue()) {
    // The reader and the operator save the same tensor.
    if (!ending.readerSaves && ending.isPiecewise)
      return {Kept::Bits, false};
    return {Kept::Operator, false};
  }
  if (!ending.readerSaves)
    return {ending.isPiecewise && ending.isSum && !savesLeavesAlone(ending)
                ? Kept::Bits
                : Kept::Operator,
            false};
  // The operator keeps the source, from which the value is computed again, or a
  // constant, or nothing.
  if (ending.isFirst && ending.saves == Saves::Input)
    return {Kept::Operator, ending.constants <= ending.value};
  if (ending.isFirst && ending.saves != Saves::Result)
    return {Kept::Operator, ending.inputs() <= ending.value};
  return ending.inputs() <= ending.saved + ending.value
             ? Choice{Kept::Sources, true}
             : Choice{Kept::Operator, false};
}

/// Tensors that are kept exactly.
static Choice finishExactly(Policy policy, const Ending &ending) {
  switch (ending.derivative) {
  case Derivative::Number:
    return {Kept::Number, policy == Policy::Auto && ending.isWidened &&
                              ending.readerSaves &&
                              ending.inputs() <= ending.value};
  case Derivative::Operator:
    return policy == Policy::Auto ? finishOperator(ending)
                                  : Choice{Kept::Operator, false};
  case Derivative::Tensor:
    if (policy == Policy::Auto && savesLeavesAlone(ending))
      return {Kept::Sources, ending.readerSaves};
    if (policy == Policy::Fad && ending.paid == 0 && ending.sources == 0)
      return {Kept::Sources, false};
    return {policy == Policy::Auto && ending.isPiecewise ? Kept::Bits
                                                         : Kept::Tensor,
            false};
  case Derivative::Steps:
    // A later reader may save a value that an operator saves in eager PyTorch.
    return {Kept::Sources, ending.readerSaves || ending.inputs() > ending.paid};
  }
  return {};
}

Choice finish(Policy policy, const Ending &ending) {
  Choice choice = finishExactly(policy, ending);
  // A source of which a reader computes what it saves takes fewer bytes than
  // the value and few bits do, and a tensor that the reader saves anyway takes
  // none.
  bool isFree = choice.recomputes || choice.kept == Kept::Number ||
                choice.kept == Kept::Bits ||
                (choice.kept == Kept::Sources && savesLeavesAlone(ending)) ||
                (choice.kept == Kept::Operator && ending.savesValue() &&
                 ending.readerSaves);
  return ending.hasLevels && !isFree ? Choice{Kept::Levels, false} : choice;
}

bool waitsForReader(const Ending &ending) {
  return ending.derivative == Derivative::Operator && ending.savesValue() &&
         !ending.readerSaves;
}

Choice finishUnsaved(const Ending &ending, const Choice &choice) {
  return choice.kept == Kept::Operator && waitsForReader(ending) &&
                 isNarrowerThanResult(ending)
             ? Choice{Kept::Sources, true}
             : choice;
}

Choice finishWhole(Policy policy, const Ending &ending) {
  Choice choice = finish(policy, ending);
  bool mayRunAgain =
      ending.inputs() <= ending.saved + (ending.readerSaves ? ending.value : 0);
  if (choice.kept == Kept::Bits && ending.readerSaves && mayRunAgain)
    return {Kept::Sources, true};
  if (choice.kept != Kept::Operator)
    return choice;
  bool isShared =
      ending.isSingle || ending.saves == Saves::Constant || ending.savesValue();
  if (policy == Policy::Fad) {
    isShared |= (ending.isFirst && ending.saves == Saves::Input) ||
                ending.value > ending.saved;
    return isShared ? choice : Choice{Kept::Tensor, false};
  }
  if (ending.isPiecewise && !ending.readerSaves && !savesLeavesAlone(ending))
    return {Kept::Bits, false};
  return (isShared && !choice.recomputes) || !mayRunAgain
             ? choice
             : Choice{Kept::Sources, choice.recomputes};
}

/// Where an operator's own node is left.
static std::string_view reasonOfOperator(const Ending &ending,
                                         const Choice &choice) {
  if (choice.recomputes)
    return ending.saves == Saves::Constant
               ? "the reader saves the value, which the source gives as well"
               : "one operator is not linear, and what it saves gives the "
                 "value as well";
  if (ending.savesValue() && ending.readerSaves)
    return "one operator is not linear, and it and its reader save the same "
           "tensor";
  return "one operator is not linear";
}

std::string_view reason(Policy policy, const Ending &ending,
                        const Choice &choice) {
  switch (choice.kept) {
  case Kept::Number:
    return choice.recomputes
               ? "all operators are linear, and the source has a narrower type"
               : "all operators are linear";
  case Kept::Operator:
    return reasonOfOperator(ending, choice);
  case Kept::Operators:
    return "other sequences need tensors that the operators save";
  case Kept::Tensor:
    return policy == Policy::Fad ? "the policy fad keeps derivatives"
                                 : "the derivative has more than two values";
  case Kept::Bits:
    return "the derivative has two values";
  case Kept::Levels:
    return "derivative_bits are given, and the derivative is bounded";
  case Kept::Sources:
    if (choice.recomputes && ending.readerSaves)
      return "the reader saves the value, which the source gives as well";
    if (savesLeavesAlone(ending))
      return "the source is a leaf, which is there anyway";
    if (ending.derivative == Derivative::Tensor)
      return "the derivative has more than two values";
    return ending.derivative == Derivative::Operator
               ? "one operator is not linear, and saves no fewer bytes"
               : "several operators are not linear";
  }
  return {};
}

std::string_view name(State state) {
  static constexpr std::string_view names[] = {"NN", "NY", "YY", "YN"};
  return names[static_cast<size_t>(state)];
}

std::string_view name(Kept kept) {
  static constexpr std::string_view names[] = {
      "number", "operator", "operators", "derivative",
      "bits",   "few bits", "source"};
  return names[static_cast<size_t>(kept)];
}

std::string_view components(State state) {
  static constexpr std::string_view names[] = {"A D", "A D", "A B D",
                                               "A B C D"};
  return names[static_cast<size_t>(state)];
}

} // namespace fad::eager
