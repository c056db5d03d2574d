//===- End.cpp - The end of a deferred sequence ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Defer.h"
#include "deferred/Fused.h"
#include "deferred/Own.h"
#include "sequence/Bits.h"
#include "sequence/ReadMemory.h"
#include "sequence/Results.h"
#include <ATen/ATen.h>
#include <chrono>
#include <thread>
#include <torch/csrc/autograd/graph_task.h>

namespace fad::eager {

namespace {
using Result = std::pair<at::Tensor, Computed>;
} // namespace

SequenceNode *openNodeOf(LazyTensor &tensor) {
  auto *value = castTo<Value>(tensor.get_backend_meta());
  if (!value || value->tensor != &tensor || !value->sequence ||
      !value->isCurrent())
    return nullptr;
  SequenceNode *node = value->sequence;
  bool isOpen = !node->isReleased && node->held.form == Derivative::Steps &&
                node->getSteps();
  return isOpen ? node : nullptr;
}

/// The derivative, from the source. Undefined in a backward that asks for
/// gradients of other values alone.
static at::Tensor derive(const StepPtr &step, const SequenceNode &node,
                         const at::Tensor &like) {
  at::Tensor ones = at::ones_like(like);
  std::vector<at::Tensor> found = pullFused(step, ones, node.sources);
  return found.empty()
             ? Replay(step, node.sources).pull(ones, node.sources, {})[0]
             : found[0];
}

static Result computeForward(const StepPtr &step) {
  // The own node of an operator that reads it may have it.
  if (at::Tensor value = step->findComputed(); value.defined())
    return {value, Computed::ByNodes};
  at::Tensor value = computeFused(step, /*isForward=*/true);
  if (value.defined())
    return {value, Computed::ByKernel};
  Computed how =
      hasKernel(step) ? Computed::BeforeKernel : Computed::WithoutKernel;
  return {compute(step), how};
}

/// The bytes of a tensor, which may have no elements yet.
static int64_t countBytes(const c10::TensorImpl &tensor) {
  return tensor.numel() * static_cast<int64_t>(tensor.dtype().itemsize());
}

static Ending endingOf(const Value &value, bool readerSaves) {
  const SequenceNode &node = *value.sequence;
  const Held &held = node.held;
  Ending ending = {held.form,    held.isPiecewise, held.saves,
                   held.isFirst, held.isLast,      readerSaves};
  ending.sources = value.sources.bytes();
  ending.value = countBytes(*value.tensor);
  ending.saved = value.saved;
  ending.paid = value.paid;
  ending.constants = bytesOf(value.constants);
  ending.isSingle = value.steps()->length == 1;
  ending.isWidened = value.sources.areWidened();
  if (held.isOneOperator)
    ending.derivative = Derivative::Operator;
  else if (held.form == Derivative::Number)
    return ending;
  else if (value.policy == Policy::Fad || held.isPiecewise)
    ending.derivative = Derivative::Tensor;
  return ending;
}

static void keepDerivative(SequenceNode &node, at::Tensor derivative) {
  // Two values of bits have the factor.
  if (derivative.defined())
    node.held.factor = 1;
  node.held.tensor = std::move(derivative);
  node.held.form = Derivative::Tensor;
  node.setSteps(nullptr);
}

/// Keeps the derivative of a value of a type.
static void close(Value &value, const StepPtr &step, at::Tensor derivative,
                  at::ScalarType type) {
  SequenceNode &node = *value.sequence;
  value.isFinished = node.isFinished = true;
  // That of a source of a wider type has more digits than the value.
  if (derivative.defined() &&
      derivative.element_size() > static_cast<int64_t>(c10::elementSize(type)))
    derivative = derivative.to(type);
  if (derivative.defined())
    keepDerivative(node, std::move(derivative));
  value.step = value.bits ? step : nullptr;
}

/// Tensors that are kept of a sequence under Policy::Fad, if nobody reads the
/// value. Each tensor that eager PyTorch saves pays for one of them.
static Kept findUnread(LazyTensor &tensor) {
  SequenceNode *node = openNodeOf(tensor);
  const auto *value = castTo<Value>(tensor.get_backend_meta());
  // Few bits, which the first reader has packed, are of a derivative.
  if (!node || value->policy != Policy::Fad || value->bits)
    return Kept::Tensor;
  if (node->isCovered)
    return Kept::Sources;
  Kept kept = finishWhole(Policy::Fad, endingOf(*value, false)).kept;
  if (kept != Kept::Operator && kept != Kept::Tensor)
    return kept;
  Stretch stretch(*node, node->getSteps());
  bool isPaid = kept == Kept::Operator ? stretch.shared().empty()
                                       : stretch.saved() >= countBytes(tensor);
  return isPaid ? kept : Kept::Operators;
}

bool keepsResult(const Value &value, bool isInFunction) {
  const Held &held = value.description();
  return value.policy == Policy::Auto && held.isOneOperator &&
         held.savesValue() && (isInFunction || !held.isPiecewise);
}

/// Whether that is left by the computation of the value.
static bool leavesResult(LazyTensor &tensor, bool isInFunction) {
  const auto *value = castTo<Value>(tensor.get_backend_meta());
  return openNodeOf(tensor) && keepsResult(*value, isInFunction) &&
         !value->bits && !value->sequence->isCovered &&
         !value->sources.areWidened() && tensor.isOwn() &&
         !isCapturing(tensor.getStream()) &&
         !torch::autograd::get_current_graph_task_exec_info();
}

StepPtr findRunOwn(LazyTensor &tensor) {
  if (!tensor.getStep())
    return {};
  if (leavesResult(tensor, isInFunction()))
    return tensor.getStep();
  Kept kept = findUnread(tensor);
  return kept == Kept::Operator || kept == Kept::Operators ? tensor.getStep()
                                                           : StepPtr();
}

void evaluate(LazyTensor &tensor, const Originals &originals) {
  const bool leaves = leavesResult(tensor, isInFunction());
  OutsideModes guard;
  StepPtr step = tensor.getStep();
  auto *value = castTo<Value>(tensor.get_backend_meta());
  SequenceNode *node = openNodeOf(tensor);
  auto fill = [&](const Result &result) {
    tensor.fill(result.first, result.second);
  };
  // A reader that no dispatcher sees may save the value.
  if (leaves)
    return fill({runOwn(step, tensor, *value, originals), Computed::ByNodes});
  Kept kept = findUnread(tensor);
  if (!node || value->policy != Policy::Fad || kept == Kept::Sources)
    return fill(computeForward(step));
  if (kept == Kept::Operator)
    return fill({runOwn(step, tensor, *value, originals), Computed::ByNodes});
  if (kept == Kept::Operators)
    return fill({runAllOwn(step, *value, originals), Computed::ByNodes});
  auto [result, derivative] = deriveFused(step);
  Computed how = Computed::ByKernel;
  if (!result.defined()) {
    std::tie(result, how) = computeForward(step);
    derivative = derive(step, *node, result);
  }
  close(*value, step, std::move(derivative), result.scalar_type());
  fill({result, how});
}

void evaluateElsewhere(LazyTensor &tensor) {
  OutsideModes guard;
  Result result = computeForward(tensor.getStep());
  tensor.fill(result.first, result.second);
}

std::vector<c10::Storage> copyLeaves(LazyTensor &tensor, bool isOwn,
                                     const at::Tensor &written) {
  std::vector<c10::Storage> before;
  if (isOwn && (!openNodeOf(tensor) || findUnread(tensor) == Kept::Sources))
    return before;
  OutsideModes guard;
  std::lock_guard<std::mutex> lock(copying());
  for (Step *step : order(tensor.open))
    if (const Step::Constant &source = step->value;
        !step->op && source.isLeaf && mayCopy(source, written))
      before.push_back(readCopy(*step, source, copyElements(source.tensor)));
  return before;
}

StepPtr endComputed(LazyTensor &tensor) {
  SequenceNode *node = openNodeOf(tensor);
  auto *value = castTo<Value>(tensor.get_backend_meta());
  if (!node || value->policy != Policy::Fad)
    return {};
  Kept kept = findUnread(tensor);
  if (kept == Kept::Sources)
    return {};
  OutsideModes guard;
  StepPtr steps = node->getSteps();
  if (kept == Kept::Tensor && node->sources.size() == 1)
    close(*value, steps, derive(steps, *node, *Borrowed(&tensor)),
          tensor.dtype().toScalarType());
  else
    runAllOwn(steps, *value, {});
  return steps;
}

/// The memories that a sequence reads.
static std::vector<c10::Storage> getMemories(const StepPtr &end) {
  std::vector<c10::Storage> memories;
  visitInputs(end, [&](const Step::Constant &input) {
    memories.push_back(getMemory(input));
  });
  return memories;
}

static bool areSame(const std::vector<c10::Storage> &some,
                    const std::vector<c10::Storage> &others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const auto &one, const auto &other) {
                      return one.unsafeGetStorageImpl() ==
                             other.unsafeGetStorageImpl();
                    });
}

template <typename Predicate>
static bool isAnyInput(const StepPtr &end, Predicate predicate) {
  bool isAny = false;
  visitInputs(end, [&](const Step::Constant &input) {
    isAny = isAny || predicate(input);
  });
  return isAny;
}

static bool isWritten(const StepPtr &end) {
  NoNewWrites writes;
  return isAnyInput(end, [&](const Step::Constant &input) {
    return writes.isWritten(input);
  });
}

/// The derivative of a value that is there. Undefined where another thread has
/// written to what it is computed from.
///
/// A write that has begun has a copy made of the elements, which are then
/// derived again, or changes their version when it ends. It may need what this
/// thread holds, such as Python's lock, so that it is not waited for for long.
static at::Tensor deriveComputed(const StepPtr &step, const SequenceNode &node,
                                 const at::Tensor &value) {
  constexpr std::chrono::microseconds pause(50);
  int pauses = 2000;
  std::vector<c10::Storage> before = getMemories(step);
  at::Tensor derivative = derive(step, node, value);
  for (;;) {
    std::vector<c10::Storage> now = getMemories(step);
    if (!areSame(before, now)) {
      before = std::move(now);
      derivative = derive(step, node, value);
      continue;
    }
    if (!isWritten(step))
      return derivative;
    if (isAnyInput(step, isModified) || !pauses--)
      return {};
    std::this_thread::sleep_for(pause);
  }
}

/// Keeps the derivative of a computed value in few bits, if there are levels,
/// or in one, where it has two values. False where it is not kept.
static bool packDerivative(const at::Tensor &tensor, SequenceNode &node,
                           const LevelsPtr &levels) {
  OutsideModes guard;
  const StepPtr steps = node.getSteps();
  at::Tensor derivative =
      steps ? deriveComputed(steps, node, tensor) : node.held.tensor;
  if (!derivative.defined())
    return false;
  node.bits = levels ? packLevels(derivative, *levels)
                     : packBits(derivative, node.values);
  if (!node.bits.defined())
    return false;
  node.levels = levels;
  keepDerivative(node, {});
  return true;
}

/// The rest of a sequence after `evaluate`, or linear operators.
static Choice findKept(const Value &value) {
  if (!value.sequence || value.sequence->held.form == Derivative::Operator)
    return {Kept::Operator, false};
  if (value.sequence->isLeading)
    return {Kept::Operators, false};
  return {value.sequence->held.form == Derivative::Tensor ? Kept::Tensor
                                                          : Kept::Number,
          false};
}

/// Whether a value within a sequence has been computed, perhaps before a write
/// that nobody has seen.
static bool hasComputed(const StepPtr &end) {
  std::vector<Step *> steps = order(end);
  return std::any_of(steps.begin(), steps.end(), [&](Step *step) {
    return step != end.get() && step->op && step->findComputed().defined();
  });
}

/// The operator's node keeps the value, which is there.
static void keepComputed(const at::Tensor &tensor, SequenceNode &node) {
  node.held.own = makeResultNode(node.held, node.next_edge(0), tensor);
  node.held.form = Derivative::Operator;
  node.setSteps(nullptr);
}

/// Does what was chosen, and returns what could be done.
static Choice keep(const at::Tensor &tensor, LazyTensor &lazy, Value &value,
                   Choice choice, const Ending &ending,
                   const LevelsPtr &levels) {
  SequenceNode &node = *value.sequence;
  StepPtr step = node.getSteps();
  Choice instead = {Kept::Sources, ending.readerSaves};
  switch (choice.kept) {
  case Kept::Operator:
  case Kept::Tensor: {
    OutsideModes guard;
    auto runs = [&] {
      if (lazy.isComputed())
        return false;
      Originals originals(step);
      return lazy.computeAs([&](const StepPtr &step) {
        return Result(runOwn(step, lazy, value, originals), Computed::ByNodes);
      });
    };
    if (value.policy == Policy::Fad) {
      // A sequence whose value has no reader takes a derivative for few bits,
      // which this reader has no use for.
      if (!value.bits || choice.kept != Kept::Operator || !runs())
        lazy.compute();
      // Another thread has computed the value alone, and may be writing. Until
      // this one leaves, what others overwrite is copied.
      if (openNodeOf(lazy) && findUnread(lazy) != Kept::Sources) {
        at::Tensor derivative = node.sources.size() == 1
                                    ? deriveComputed(step, node, tensor)
                                    : at::Tensor();
        if (!derivative.defined())
          return {Kept::Sources, false};
        close(value, step, std::move(derivative), tensor.scalar_type());
      }
      Choice found = findKept(value);
      return found.kept == Kept::Number ? choice : found;
    }
    if (hasComputed(step))
      lazy.computeAs(computeForward);
    else if (runs())
      return choice;
    // A computed value has no node of an operator. What that saves may take
    // fewer bytes than the source.
    if (!findSharedOwn(step, node) && ending.saves != Saves::Constant &&
        ending.inputs() <= ending.saved)
      return instead;
    if (lazy.isComputed() && !value.isEscaped && ending.savesValue())
      keepComputed(tensor, node);
    else
      runOwn(step, lazy, value, Originals(step));
    return choice;
  }
  case Kept::Bits:
  case Kept::Levels: {
    {
      OutsideModes guard;
      lazy.computeAs(computeForward);
    }
    if ((choice.kept == Kept::Bits && waitsForReader(ending)) ||
        packDerivative(tensor, node,
                       choice.kept == Kept::Levels ? levels : nullptr))
      return choice;
    return instead;
  }
  default: {
    OutsideModes guard;
    lazy.computeAs(computeForward);
    return choice;
  }
  }
}

std::optional<Waiting> finishDeferred(const at::Tensor &tensor, Value &value,
                                      bool readerSaves) {
  auto &lazy = static_cast<LazyTensor &>(*tensor.unsafeGetTensorImpl());
  // A captured sequence computes nothing more than the value that there is.
  bool isCaptured = lazy.isComputed() && isCapturing(lazy.getStream());
  std::optional<OnRecordedStream> there;
  if (!isCaptured)
    there.emplace(lazy.getStream());
  Ending ending;
  Choice choice, unsaved;
  StepPtr steps = value.steps();
  countEnd(steps, value.sources);
  if (openNodeOf(lazy)) {
    LevelsPtr levels = levelsOf(tensor, value);
    ending = endingOf(value, readerSaves);
    ending.hasLevels = levels != nullptr;
    choice = finishWhole(value.policy, ending);
    unsaved = chooseUnsaved(value, ending, choice);
    // The value, or a multiple of it, has the operator's own node.
    bool mayHaveOwn = choice.kept == Kept::Bits ||
                      (choice.kept == Kept::Sources && !readerSaves);
    if (mayHaveOwn && value.policy == Policy::Auto &&
        value.sequence->held.isOneOperator &&
        findSharedOwn(steps, *value.sequence))
      choice = unsaved = {Kept::Operator, false};
    bool hasSources =
        value.policy == Policy::Fad && !value.bits && value.sequence->isCovered;
    if (hasSources)
      choice = {Kept::Sources, false};
    // Where a write that was not seen has changed what the sequence reads, or
    // that of another thread does so meanwhile, backward says so, if it needs
    // that; forward goes on with the value.
    auto isOvertaken = [&] {
      return lazy.isComputed() && !isContinued(tensor, value);
    };
    const Choice unread = {Kept::Sources, false};
    try {
      choice = isCaptured || isOvertaken()
                   ? unread
                   : keep(tensor, lazy, value, choice, ending, levels);
    } catch (const c10::Error &) {
      if (!isOvertaken())
        throw;
      choice = unread;
    }
  } else {
    lazy.compute();
    choice = findKept(value);
    ending.derivative = value.description().form;
    if (choice.kept == Kept::Number && value.step && !value.bits) {
      ending = endingOf(value, readerSaves);
      choice = finishWhole(value.policy, ending);
    }
    if (LevelsPtr levels; choice.kept == Kept::Tensor && !isCaptured &&
                          (levels = levelsOf(tensor, value)) &&
                          packDerivative(tensor, *value.sequence, levels))
      choice.kept = Kept::Levels;
  }
  value.isRead = true;
  if (value.sequence && choice.kept == Kept::Sources)
    value.sequence->countEnd(choice.recomputes);
  bool waitsWithOperator = value.sequence && value.sequence->held.own &&
                           choice.kept == Kept::Operator &&
                           unsaved.kept == Kept::Sources;
  if (value.policy == Policy::Auto && waitsWithOperator)
    return Waiting{std::move(steps), ending, unsaved};
  if (choice.kept == Kept::Bits && waitsForReader(ending))
    return Waiting{std::move(steps), ending, choice};
  lazy.leave();
  end(tensor, value, ending, choice);
  return {};
}

/// Whether the derivative is now in bits.
static bool packs(const at::Tensor &tensor, SequenceNode &node) {
  try {
    return packDerivative(tensor, node, nullptr);
  } catch (const c10::Error &) {
    // The reader or another thread has changed a tensor that the sequence
    // reads. Backward reports it, where it needs it.
    return false;
  }
}

void endDeferred(const at::Tensor &tensor, Value &value, const Waiting &waiting,
                 bool isSaved) {
  SequenceNode &node = *value.sequence;
  const bool waitsWithBits = waiting.choice.kept == Kept::Bits;
  Choice choice = isSaved ? Choice{Kept::Operator, false} : waiting.choice;
  if (choice.kept == Kept::Operator && waitsWithBits)
    keepComputed(tensor, node);
  if (choice.kept == Kept::Bits && !packs(tensor, node))
    choice.kept = Kept::Sources;
  if (choice.kept == Kept::Sources) {
    node.runFrom(waiting.steps);
    node.countEnd(choice.recomputes);
  }
  // Until now, what other threads overwrite has been copied.
  static_cast<LazyTensor &>(*tensor.unsafeGetTensorImpl()).leave();
  end(tensor, value, waiting.ending, choice);
}

} // namespace fad::eager
