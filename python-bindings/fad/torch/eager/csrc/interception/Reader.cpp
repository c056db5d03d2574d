//===- Reader.cpp - Operators that end sequences --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Reader.h"
#include "deferred/Defer.h"
#include "interactive/Interactive.h"
#include "interception/Observer.h"
#include "sequence/Arguments.h"
#include "sequence/OperatorCall.h"
#include "sequence/Operators.h"
#include "sequence/Recompute.h"
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>

namespace fad::eager {

bool isComposite(const c10::OperatorHandle &op, c10::DispatchKeySet keys) {
  auto backend = keys & c10::DispatchKeySet(c10::DispatchKeySet::RAW,
                                            c10::full_backend_mask);
  return op.hasKernelForDispatchKey(
             c10::DispatchKey::CompositeImplicitAutograd) &&
         (backend.empty() ||
          !op.hasKernelForDispatchKey(c10::toRuntimePerBackendFunctionalityKey(
              c10::DispatchKey::Dense, backend.highestBackendKey())));
}

namespace {
/// A fad tensor that a reader reads.
struct Reading {
  at::Tensor tensor; ///< or a view of it
  Value *value;      ///< of the tensor, not of the view
  bool isSaved;      ///< by the reader's node, which can compute it
  /// An end that waits for the reader. The tensor's owners but its arguments,
  /// where it makes a difference whether the reader saves it.
  std::optional<Waiting> waiting = {};
  std::optional<size_t> owners = {};
};
} // namespace

/// The owners of a tensor but those that are arguments.
static size_t countOthers(const at::Tensor &tensor,
                          c10::ArrayRef<c10::IValue> arguments) {
  size_t count = tensor.use_count();
  for (const c10::IValue &argument : arguments)
    visitTensors(argument, [&](const at::Tensor &each) {
      count -= each.is_same(tensor);
    });
  return count;
}

/// Decides what is kept of the sequence of a tensor, unless that is done. The
/// end may wait for a reader that is not known to save the value.
static std::optional<Waiting> finish(const at::Tensor &tensor, Value &value,
                                     bool readerSaves) {
  if (value.isDeferred ? value.isRead : value.isFinished)
    return {};
  auto finish = value.isDeferred ? finishDeferred : finishInteractive;
  return finish(tensor, value, readerSaves);
}

/// The tensor of which a reader's operand may be a view.
static at::Tensor baseOf(const at::Tensor &tensor) {
  const Value *own = anyValueOf(tensor);
  return own && own->base.defined() ? own->base : tensor;
}

/// Operators need not see a tensor whose sequence has ended, unless they
/// compute what they save of it, or others may come to begin there, where no
/// alias has been written to, or its own node would keep it.
static void leave(const at::Tensor &tensor, const Value &value) {
  if (!value.isRecomputed && !value.mayBegin() && !value.mayKeep())
    removeKey(tensor);
}

/// Ends a sequence that waits for a reader.
static void endWaiting(const at::Tensor &tensor, Value &value,
                       const Waiting &waiting, bool isSaved) {
  auto end = value.isDeferred ? endDeferred : endInteractive;
  end(tensor, value, waiting, isSaved);
  if (isSaved && value.isWithin())
    value.save();
}

void finishAtOnce(const at::Tensor &tensor, Value &value) {
  if (auto waiting = finish(tensor, value, /*readerSaves=*/false))
    endWaiting(tensor, value, *waiting, /*isSaved=*/true);
  const Held &held = value.description();
  if (value.isWithin() && held.form == Derivative::Operator &&
      held.savesValue())
    value.save();
}

/// A read by a function of Python's, which will save the value, as most do.
static void readInFunction(const at::Tensor &tensor, Value &value) {
  if (value.policy != Policy::Auto || value.isSaved)
    return;
  finishAtOnce(tensor, value);
  value.save();
  leave(tensor, value);
}

static void endWaiting(const Reading &reading, bool isSaved) {
  endWaiting(baseOf(reading.tensor), *reading.value, *reading.waiting, isSaved);
  leave(reading.tensor, *reading.value);
}

/// Looks at what a reader has saved.
static void noteSaved(c10::ArrayRef<Reading> readings) {
  for (const Reading &reading : readings) {
    if (!reading.owners)
      continue;
    // The reading itself is one, and so are later ones of the tensor.
    size_t owners = *reading.owners;
    for (const Reading *each = &reading; each != readings.end(); ++each)
      owners += each->tensor.is_same(reading.tensor);
    bool isSaved = reading.tensor.use_count() > owners;
    if (reading.waiting) {
      endWaiting(reading, isSaved);
    } else if (isSaved) {
      reading.value->save();
      leave(reading.tensor, *reading.value);
    }
  }
}

/// The same after an error of the reader, which is on its way and which a
/// further one must not replace: what operators saved remains, and no source.
static void endAfterError(c10::ArrayRef<Reading> readings) {
  // An observer of Python's would clear the error.
  const bool wasObserved = std::exchange(options.isObserved, false);
  for (const Reading &reading : readings) {
    if (!reading.waiting)
      continue;
    try {
      endWaiting(reading, /*isSaved=*/true);
    } catch (const std::exception &error) {
      // The sequence has what its operators saved already.
      TORCH_WARN_ONCE("fad.torch.nest: a sequence has not ended: ",
                      error.what());
    }
  }
  options.isObserved = wasObserved;
}

/// Whether a deferred sequence is to end before a view of its value is made: a
/// value that a view has computed has no node of the operator that saves it.
static bool endsBefore(const Value *value) {
  return value && value->isDeferred && keepsResult(*value);
}

/// Whether an operator writes to an argument, or its result may be a view.
static bool isAliased(const c10::OperatorHandle &op, size_t position) {
  return op.schema().arguments()[position].alias_info();
}

static bool isWritten(const c10::OperatorHandle &op, size_t position) {
  return isAliased(op, position) &&
         op.schema().arguments()[position].alias_info()->isWrite();
}

/// A view that is not followed, with which a reader may save the whole value.
static void readView(const at::Tensor &view, Value &value,
                     c10::ArrayRef<c10::IValue> arguments,
                     c10::SmallVectorImpl<Reading> &readings) {
  if (!at::GradMode::is_enabled() || !value.maySave())
    return;
  size_t owners = countOthers(view, arguments);
  readings.push_back({view, &value, false, {}, owners});
}

/// Gives the value of a first operator a node that what the operator saved can
/// be taken from. A view of it would have an edge to PyTorch's.
static void ownResult(const at::Tensor &tensor, Value &value) {
  if (value.policy == Policy::Auto && !value.isDeferred && !value.sequence &&
      value.held.saves == Saves::Result && mayOwnNode(tensor, value))
    ownNode(tensor, value);
}

/// Ends the sequence of one operand.
static void read(const c10::OperatorHandle &op, const Reader &reader,
                 c10::ArrayRef<c10::IValue> arguments, size_t position,
                 const at::Tensor &tensor,
                 c10::SmallVectorImpl<Reading> &readings) {
  Value *own = anyValueOf(tensor);
  if (!own->isCurrent())
    return removeKey(tensor);
  at::Tensor base = baseOf(tensor);
  Value *value = own->base.defined() ? anyValueOf(base) : own;
  if (value && !value->isCurrent())
    value = nullptr;
  if (isAliased(op, position)) {
    // A view that is not followed, or a write.
    bool isFollowed =
        reader.isView && at::GradMode::is_enabled() && !endsBefore(value);
    // No operator continues the sequence. A reader of the view may save what
    // the operator's own node does, too.
    if (!isFollowed && value && at::GradMode::is_enabled() &&
        !isWritten(op, position))
      finishAtOnce(base, *value);
    if (!isFollowed && value)
      value->isEscaped = true;
    if (isFollowed && value)
      ownResult(base, *value);
    if (isFollowed && value)
      readings.push_back({tensor, value, false});
    return;
  }
  if (value && isInFunction())
    return readInFunction(base, *value);
  if (!at::GradMode::is_enabled() || !value)
    return;
  bool isSaved = reader.saves(position, arguments) && valueOf(base) == value;
  std::optional<Waiting> waiting = finish(base, *value, isSaved);
  // No sequence goes on from a view of a value whose own has ended.
  if (own != value)
    own->step.reset();
  if (isObserved())
    observeReader(op.operator_name(), base, isSaved, value->isRecomputed);
  Reading reading = {tensor, value,
                     isSaved && value->isRecomputed && value->steps(),
                     std::move(waiting)};
  if (reading.waiting || (value->isWithin() && !reading.isSaved))
    reading.owners = countOthers(tensor, arguments) - base.is_same(tensor) - 1;
  // The reader may read the value twice.
  bool isWaitedFor =
      std::any_of(readings.begin(), readings.end(), [&](const Reading &other) {
        return other.value == value && other.waiting;
      });
  if (reading.owners || value->isRecomputed || isWaitedFor)
    readings.push_back(std::move(reading));
  else
    leave(tensor, *value);
}

namespace {
/// A value that an operator reads, and its memory.
struct Watched {
  c10::weak_intrusive_ptr<Value> value;
  const c10::StorageImpl *memory;
};
} // namespace

/// Has those results of an operator that are views of fad tensors, and are
/// followed by nothing, tell of their own aliases.
static void watchAliases(c10::ArrayRef<Watched> watched,
                         c10::ArrayRef<c10::IValue> results) {
  auto watch = [&](const at::Tensor &result) {
    c10::TensorImpl *impl = result.unsafeGetTensorImpl();
    if (!result.has_storage() || impl->get_backend_meta())
      return;
    const auto *memory = result.storage().unsafeGetStorageImpl();
    for (const Watched &each : watched) {
      auto value = each.memory == memory ? each.value.lock() : nullptr;
      if (!value || value->tensor == impl)
        continue;
      // Without a graph, a view does not keep the tensor.
      if (isView(result) && result.requires_grad())
        return attach(result, c10::make_intrusive<ViewOfValue>(each.value));
      value->escape();
    }
  };
  for (const c10::IValue &result : results)
    visitTensors(result, watch);
}

/// A view of a fad tensor, whose readers keep the tensor.
static void follow(const c10::OperatorHandle &op,
                   c10::ArrayRef<c10::IValue> arguments, const at::Tensor &view,
                   const Reading &reading) {
  if (!view.is_view() || !reading.value->isRunAgain() || anyValueOf(view))
    return;
  auto value = c10::make_intrusive<Value>(view, options);
  Value *from = anyValueOf(reading.tensor);
  bool isOfView = from && from->base.defined();
  value->base = isOfView ? from->base : reading.tensor;
  value->sources = reading.value->sources;
  value->saved = reading.value->saved;
  value->constants = reading.value->constants;
  value->held.form = Derivative::Steps;
  value->held.isPiecewise = false;
  // The sequence may go on from the view.
  if (value->policy == Policy::Auto && !value->isDeferred &&
      !reading.value->isDeferred) {
    c10::SmallVector<StepPtr, 2> operands = {isOfView ? from->step
                                                      : reading.value->steps()};
    if (operands[0] && operands[0]->length < maxLength) {
      value->step = record(op, arguments, {size_t(0)}, operands);
      value->step->isLinear = true;
    }
  }
  attach(view, std::move(value));
}

void readBoxed(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
               torch::jit::Stack *stack) {
  if (isComposite(op, keys) || isAutocast(op, keys))
    return op.redispatchBoxed(belowKeys(keys), stack);
  if (isTraced())
    trace.record(
        {op.operator_name().name.substr(op.operator_name().name.find(':') + 2),
         State::YN,
         std::string(components(State::YN)),
         {},
         {}});
  const Reader &reader = findReader(op);
  c10::SmallVector<Reading, 2> readings;
  c10::SmallVector<Watched, 2> watched;
  std::vector<c10::IValue> arguments;
  size_t count = op.schema().arguments().size();
  try {
    for (size_t i = 0; i < count; ++i) {
      visitTensors(
          (*stack)[stack->size() - count + i], [&](const at::Tensor &tensor) {
            if (!tensor.key_set().has(tensorKey))
              return;
            auto arguments = torch::jit::last(*stack, count);
            auto weak = watchedValueOf(tensor);
            auto value = weak ? weak->lock() : nullptr;
            // Its version may not count the write.
            if (value && isWritten(op, i))
              value->escape();
            if (anyValueOf(tensor))
              read(op, reader, arguments, i, tensor, readings);
            else if (!value)
              removeKey(tensor);
            else if (!isAliased(op, i))
              readView(tensor, *value, arguments, readings);
            compute(tensor);
            // No owner may be left once the tensor goes.
            if (weak)
              watched.push_back(
                  {std::move(*weak), tensor.storage().unsafeGetStorageImpl()});
          });
    }
    if (reader.isView && !readings.empty())
      arguments.assign(stack->end() - static_cast<ptrdiff_t>(count),
                       stack->end());
    redispatch(op, keys, stack);
  } catch (...) {
    endAfterError(readings);
    throw;
  }
  noteSaved(readings);
  auto results = torch::jit::last(*stack, op.schema().returns().size());
  if (!readings.empty() && !results.empty() && results[0].isTensor()) {
    const at::Tensor &result = results[0].toTensor();
    for (const Reading &reading : readings) {
      if (reader.isView)
        follow(op, arguments, result, reading);
      else if (reading.isSaved && !reading.value->steps())
        // Of another operand, whose sequence has ended since, the node that
        // keeps the value gives both.
        reading.value->save();
      else if (reading.isSaved && result.defined() && result.grad_fn())
        replaceSaved(*result.grad_fn(), reading.tensor, *reading.value);
    }
  }
  watchAliases(watched, results);
}

} // namespace fad::eager
