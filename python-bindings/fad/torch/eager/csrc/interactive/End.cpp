//===- End.cpp - The end of an interactive sequence -----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interactive/Interactive.h"
#include "sequence/Bits.h"
#include "sequence/OwnNode.h"
#include "sequence/Results.h"

namespace fad::eager {

namespace impl = torch::autograd::impl;

/// The derivative of a sequence as a tensor; undefined where it cannot be
/// computed.
static at::Tensor findDerivative(const at::Tensor &tensor, const Value &value) {
  const Held &held = value.description();
  switch (held.form) {
  case Derivative::Tensor:
    return held.factor == 1 ? held.tensor : held.tensor * held.factor;
  case Derivative::Operator:
    return deriveOperator(tensor, held, value.own());
  case Derivative::Steps:
    return Replay(value.steps(), value.sources)
        .pull(filled(1, tensor), value.sources, {})[0];
  default:
    return {};
  }
}

bool mayOwnNode(const at::Tensor &tensor, const Value &value) {
  if (value.sequence)
    return true;
  // Hooks belong to the node that they were registered with.
  torch::autograd::Node *own = nodeOf(tensor);
  return countOwners(own) == 1 && !hasHooks(*own);
}

/// A derivative becomes the numbers of `levels`, or bits if it has only two
/// values and there are no levels.
static bool packDerivative(const at::Tensor &tensor, Value &value,
                           const LevelsPtr &levels) {
  // Bits are for CPUs.
  if (!mayOwnNode(tensor, value) || (!levels && !tensor.is_cpu()))
    return false;
  OutsideModes guard;
  at::Tensor derivative = findDerivative(tensor, value);
  // Where a backward with create_graph reads the value, PyTorch's node computes
  // nothing that this backward does not ask for.
  if (!derivative.defined())
    return false;
  double values[2];
  at::Tensor bits =
      levels ? packLevels(derivative, *levels) : packBits(derivative, values);
  if (!bits.defined())
    return false;
  bool isPiecewise = value.description().isPiecewise;
  SequenceNode *node = ownNode(tensor, value);
  node->held.drop();
  node->held.form = Derivative::Tensor;
  node->held.isPiecewise = isPiecewise;
  node->setSteps(nullptr);
  node->bits = bits;
  node->levels = levels;
  if (!levels)
    std::copy(values, values + 2, node->values);
  return true;
}

/// Whether the derivative is now in few bits.
static bool packs(const at::Tensor &tensor, Value &value,
                  const LevelsPtr &levels) {
  try {
    return packDerivative(tensor, value, levels);
  } catch (const c10::Error &) {
    // A source of the derivative was changed in place. Backward
    // reports it, where it needs it.
    return false;
  }
}

/// The number after a derivative is in its elements, unless another value has
/// the same tensor.
static void multiplyOut(Held &held) {
  if (held.factor == 1 || held.tensor.use_count() > 1 ||
      held.tensor.storage().use_count() > 1 ||
      !held.tensor.is_non_overlapping_and_dense())
    return;
  OutsideModes guard;
  held.tensor.mul_(held.factor);
  held.factor = 1;
}

/// Kept of a derivative that has more than two values, and no levels. Others
/// may keep the sources, and none keeps the derivative.
static Kept instead(Policy policy, const Ending &ending, const StepPtr &steps) {
  if (ending.derivative != Derivative::Tensor)
    return Kept::Operator;
  bool mayRunAgain =
      policy == Policy::Auto && steps && ending.inputs() <= ending.value;
  return mayRunAgain ? Kept::Sources : Kept::Tensor;
}

std::optional<Waiting> finishInteractive(const at::Tensor &tensor, Value &value,
                                         bool readerSaves) {
  const Held &held = value.description();
  StepPtr steps = value.steps();
  countEnd(steps, value.sources);
  LevelsPtr levels = levelsOf(tensor, value);
  Policy policy = value.policy;
  Ending ending = {held.form,        held.isPiecewise, held.saves,
                   held.isFirst,     held.isLast,      readerSaves,
                   levels != nullptr};
  ending.sources = value.sources.bytes();
  ending.value = static_cast<int64_t>(tensor.nbytes());
  ending.saved = value.saved;
  ending.paid = value.paid;
  ending.constants = bytesOf(value.constants);
  ending.isSum = held.isSum;
  ending.isWidened = value.sources.areWidened();
  Choice choice = finish(policy, ending);
  if (choice.kept == Kept::Levels && !packs(tensor, value, levels)) {
    ending.hasLevels = false;
    choice = finish(policy, ending);
  }
  const Choice unsaved = chooseUnsaved(value, ending, choice);
  // Of a first operator, the readers before have PyTorch's own node.
  if (choice.kept == Kept::Sources && !value.sequence)
    choice = {Kept::Operator, false};
  if (choice.kept == Kept::Sources && !steps)
    choice = {Kept::Tensor, false};
  // The value is kept anyway, and has the derivative.
  if (choice.kept == Kept::Bits && value.isSaved &&
      held.form == Derivative::Operator && held.savesValue())
    choice = {Kept::Operator, false};
  if (choice.kept == Kept::Bits && waitsForReader(ending) && tensor.is_cpu() &&
      mayOwnNode(tensor, value)) {
    ownNode(tensor, value);
    value.isFinished = true;
    return Waiting{steps, ending, choice};
  }
  if (choice.kept == Kept::Bits && !packDerivative(tensor, value, {}))
    choice.kept = levels && packs(tensor, value, levels)
                      ? Kept::Levels
                      : instead(policy, ending, steps);
  if (choice.kept == Kept::Tensor)
    multiplyOut(value.sequence->held);
  // A reader may save the value, which pays for results where it does not.
  const int64_t paid = choice.recomputes ? ending.eager() : ending.paid;
  std::vector<at::Tensor> results = keepResults(
      steps, choice.kept == Kept::Sources ? paid - ending.inputs() : 0);
  if (choice.kept == Kept::Sources) {
    value.sequence->held.drop();
    value.sequence->held.form = Derivative::Steps;
    value.sequence->setSteps(steps);
    value.sequence->results = std::move(results);
    value.sequence->countEnd(choice.recomputes);
    value.step.reset();
  }
  if (steps && value.sequence && choice.kept == Kept::Operator &&
      unsaved.kept == Kept::Sources) {
    value.isFinished = true;
    return Waiting{steps, ending, unsaved};
  }
  end(tensor, value, ending, choice);
  return {};
}

void endInteractive(const at::Tensor &tensor, Value &value,
                    const Waiting &waiting, bool isSaved) {
  Choice choice = isSaved ? Choice{Kept::Operator, false} : waiting.choice;
  if (choice.kept == Kept::Sources) {
    value.sequence->runFrom(waiting.steps);
    value.sequence->countEnd(choice.recomputes);
  }
  if (choice.kept == Kept::Bits && !packs(tensor, value, {}))
    choice.kept = Kept::Operator;
  end(tensor, value, waiting.ending, choice);
}

} // namespace fad::eager
