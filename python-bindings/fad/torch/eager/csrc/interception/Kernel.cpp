//===- Kernel.cpp - Fad operators in the mode -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Kernel.h"
#include "interception/Writes.h"
#include <ATen/SavedTensorHooks.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/graph_task.h>

namespace fad::eager {

namespace impl = torch::autograd::impl;
using torch::autograd::Edge;

bool isOurThread() {
  return at::GradMode::is_enabled() &&
         !torch::autograd::get_current_graph_task_exec_info() &&
         !c10::impl::TorchDispatchModeTLS::any_modes_set() &&
         at::SavedTensorDefaultHooks::get_tls_state().stack.empty();
}

bool isSupported(const at::Tensor &tensor) {
  auto *meta = impl::get_autograd_meta(tensor);
  return tensor.layout() == at::kStrided &&
         at::isFloatingType(tensor.scalar_type()) && tensor.numel() > 0 &&
         !tensor.is_inference() && tensor.is_non_overlapping_and_dense() &&
         !(meta && meta->fw_grad_);
}

/// Whether an operator runs at once in a mode that defers sequences. Kernels of
/// sequences have no functions of rows: a normalization begins an interactive
/// sequence, and casts of its value to types that are no wider go on with that.
/// A normalization of a value that backward computes again is left to PyTorch's
/// node, which reads that.
static bool runsAtOnce(const Operator &info,
                       c10::ArrayRef<c10::IValue> arguments) {
  if (info.form != Form::Normalize && info.form != Form::Cast)
    return false;
  const at::Tensor &tensor = arguments[0].toTensor();
  const Value *value = valueOf(tensor);
  if (info.form == Form::Cast) {
    c10::ScalarType type = findType(info, arguments);
    return value && !value->isDeferred && !value->isFinished &&
           at::isFloatingType(type) &&
           c10::elementSize(type) <= tensor.element_size();
  }
  if (const Value *own = anyValueOf(tensor); own && own->base.defined())
    value = valueOf(own->base);
  if (!value)
    return true;
  return value->isFinished ? !(value->isRecomputed && value->isDeferred)
                           : value->description().form == Derivative::Number;
}

const Options &modeOf(const Operator &info,
                      c10::ArrayRef<c10::IValue> arguments) {
  if (!options.isDeferred || !runsAtOnce(info, arguments))
    return options;
  static thread_local Options atOnce;
  atOnce = options;
  atOnce.isDeferred = false;
  return atOnce;
}

/// Whether the operator begins at a view of an operand, too, whose own sequence
/// ends with that.
static bool beginsAtViewOf(const Call &call, const at::Tensor &base) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [&](const c10::IValue &argument) {
                       if (!argument.isTensor())
                         return false;
                       const at::Tensor &tensor = argument.toTensor();
                       Value *own =
                           tensor.defined() ? anyValueOf(tensor) : nullptr;
                       return own && own->base.is_same(base) && !viewOf(tensor);
                     });
}

/// Collects the operands. False where the operator is to be left to PyTorch.
static bool collect(Call &call) {
  bool hasLarge = false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.arguments[i].isTensor())
      continue;
    const at::Tensor &tensor = call.arguments[i].toTensor();
    if (!tensor.defined())
      continue;
    if (!tensor.requires_grad()) {
      auto *meta = impl::get_autograd_meta(tensor);
      if (tensor.is_inference() || (meta && meta->fw_grad_))
        return false;
      continue;
    }
    if (call.positions.size() == 3 || !isSupported(tensor))
      return false;
    hasLarge |= isLarge(tensor, call.mode);
    Value *value = valueOf(tensor);
    if (!value)
      value = viewOf(tensor);
    // A sequence that Auto left leads to its sources alone, and few bits
    // lead nowhere.
    if (value && value->isFinished &&
        (call.mode.policy == Policy::Auto || value->policy == Policy::Auto ||
         value->bits || value->isDeferred))
      value = nullptr;
    if (value && value->isDeferred && !isContinued(tensor, *value))
      value = nullptr;
    if (value && beginsAtViewOf(call, tensor))
      value = nullptr;
    // A value that is kept anyway takes the place of its source.
    if (value && value->isSaved && call.mode.policy == Policy::Auto)
      value = nullptr;
    // A sequence has one policy and one engine: another one begins at the
    // value, once it is finished.
    if (value && value->policy != call.mode.policy)
      return false;
    if (value && value->isDeferred != call.mode.isDeferred) {
      if (value->base.defined() || value->policy != Policy::Auto)
        return false;
      finishAtOnce(tensor, *value);
      value = nullptr;
    }
    if (value && (call.mode.policy == Policy::Auto || call.mode.isDeferred)) {
      const StepPtr &steps = value->steps();
      if (!steps || steps->length >= maxLength)
        return false;
    }
    Operand &operand = call.known.emplace_back();
    if (value) {
      operand.isFAD = true;
      operand.sources = value->sources;
      markShared(*value, operand.sources);
      const Held &held = value->description();
      operand.derivative =
          held.isOneOperator ? Derivative::Operator : held.form;
      operand.operatorNumber = held.operatorNumber;
      operand.isPiecewise = held.isPiecewise;
      operand.isRead = value->isFinished && held.form != Derivative::Steps;
      operand.saved = operand.isRead ? 0 : value->saved;
    }
    call.positions.push_back(i);
    call.values.push_back(value);
  }
  return hasLarge;
}

/// Finds the type of the result, and whether operands have other types or
/// shapes. False where the operator can be no part of a sequence.
static bool findConversion(Call &call) {
  Form form = call.info.form;
  call.use.type = findType(call.info, call.arguments);
  if (!at::isFloatingType(call.use.type))
    return false;
  const at::Tensor &whole = call.whole();
  for (const c10::IValue &argument : call.arguments)
    if (argument.isTensor() && argument.toTensor().defined() &&
        !at::is_expandable_to(argument.toTensor().sizes(), whole.sizes()))
      return false;
  for (size_t i = 0; i < call.count(); ++i) {
    call.use.rounds |= call.tensor(i).scalar_type() != call.use.type;
    call.use.sums |= !call.tensor(i).sizes().equals(whole.sizes());
  }
  // The source of a sequence is the tensor in the narrow type, unless that is a
  // copy of a leaf.
  return form != Form::Cast || call.values[0] || call.tensor(0).is_leaf() ||
         c10::elementSize(call.use.type) >= call.tensor(0).element_size();
}

/// The memory of the constants of the operands' operators, and of those of a
/// sum, which no node saves.
static MemoriesPtr findMemories(const Call &call) {
  MemoriesPtr all;
  auto add = [&](const Memory &memory) {
    auto isSame = [&](const Memory &other) {
      return other.place == memory.place;
    };
    if (all && std::any_of(all->begin(), all->end(), isSame))
      return;
    auto more = all ? std::make_shared<std::vector<Memory>>(*all)
                    : std::make_shared<std::vector<Memory>>();
    more->push_back(memory);
    all = std::move(more);
  };
  for (const Value *value : call.values) {
    if (!all && value)
      all = value->constants;
    else if (value && value->constants && value->constants != all)
      std::for_each(value->constants->begin(), value->constants->end(), add);
  }
  if (!call.info.isSum())
    return all;
  for (const c10::IValue &argument : call.arguments) {
    if (!argument.isTensor() || !argument.toTensor().defined())
      continue;
    const at::Tensor &tensor = argument.toTensor();
    if (!tensor.requires_grad() && tensor.has_storage() &&
        !tensor.unsafeGetTensorImpl()->is_wrapped_number())
      add({tensor.storage().unsafeGetStorageImpl(),
           static_cast<int64_t>(tensor.storage().nbytes())});
  }
  return all;
}

/// Whether the operator is a cast to a wider type whose operand keeps nothing.
/// Few bits are of a derivative with respect to a tensor that is kept.
static bool isWidening(const Call &call) {
  if (call.info.form != Form::Cast || call.mode.bits ||
      c10::elementSize(call.use.type) <= call.tensor(0).element_size())
    return false;
  const Value *value = call.values[0];
  return !value || (!value->base.defined() && !value->isFinished &&
                    value->description().form == Derivative::Number);
}

/// Finds the bytes that the operator's node saves in eager PyTorch.
static Operation describe(const Call &call) {
  Operation operation = {call.use.kind, call.use.rounds, call.use.sums};
  operation.widens = call.widens;
  operation.constants = bytesOf(call.constants);
  operation.result = call.whole().numel() *
                     static_cast<int64_t>(c10::elementSize(call.use.type));
  for (size_t i = 0; i < call.count(); ++i) {
    const at::Tensor &tensor = call.tensor(i);
    if (i && tensor.is_same(call.tensor(0)))
      continue;
    auto bytes = static_cast<int64_t>(tensor.nbytes());
    if (call.use.saves == Saves::Result)
      operation.savedResult = std::max(operation.savedResult, bytes);
    else if (call.use.saves == Saves::Input && call.values[i])
      operation.savedOperands += call.values[i]->isFinished ? 0 : bytes;
    else if (call.use.saves == Saves::Input) {
      Source source;
      setMemory(source, tensor);
      operation.savedOperands += source.bytes;
    }
  }
  return operation;
}

/// Finds where gradients of the operands go.
static void findEdges(Call &call) {
  // PyTorch's node of the result will lead to the source of a lone operand,
  // which is compared with no other.
  if (call.count() == 1 && !call.values[0] && !call.mode.isDeferred)
    return;
  for (size_t i = 0; i < call.count(); ++i) {
    call.edges.push_back(edgeOf(call.tensor(i)));
    call.known[i].self = sourceOf(call.edges.back());
    // To look at the memory of a recorded value computes it.
    if (!call.values[i])
      setMemory(call.known[i].self, call.tensor(i));
  }
}

/// Notes that the value of which an operand is a view is kept as a whole.
static void saveWithView(const at::Tensor &view) {
  auto watched = watchedValueOf(view);
  if (auto value = watched ? watched->lock() : nullptr;
      value && value->maySave())
    value->save();
}

/// Ends sequences at views of whose values the operator's own begins. That may
/// keep the value, which pays for no other then; and the view keeps no source.
/// Nor do sequences that have the value within them, where the operator saves
/// it.
static void endBases(const Call &call) {
  for (size_t i = 0; i < call.count(); ++i) {
    if (call.values[i])
      continue;
    Value *own = anyValueOf(call.tensor(i));
    if (!own && call.use.saves == Saves::Input)
      saveWithView(call.tensor(i));
    if (!own || !own->isCurrent())
      continue;
    const at::Tensor base = own->base.defined() ? own->base : call.tensor(i);
    Value *value = own->base.defined() ? valueOf(base) : own;
    if (own->base.defined())
      own->step.reset();
    if (own->base.defined() && value)
      finishAtOnce(base, *value);
    if (value && call.use.saves == Saves::Input && value->isWithin())
      value->save();
  }
}

bool begin(Call &call) {
  watchNewOperators();
  // A reader finishes the value, and says whether it saves that.
  if (call.mode.isDeferred && call.info.form == Form::Normalize)
    return false;
  if (!collect(call))
    return false;
  findEdges(call);
  call.use = classify(call.info, call.arguments, call.positions);
  if (!findConversion(call))
    return false;
  call.constants = findMemories(call);
  call.widens = isWidening(call);
  Operation operation = describe(call);
  call.decision = decide(call.mode.policy, operation,
                         {call.known.data(), call.known.size()});
  call.use.kind = kindOf(call.mode.policy, operation);
  // The policy fad has no operators of a value with a derivative.
  if (call.decision.derivative == Derivative::Steps)
    for (const Value *value : call.values)
      if (value && !value->steps())
        return false;
  // The deferred engine has no node of PyTorch's from which two gradients come.
  if (call.mode.isDeferred && call.decision.state == State::NY &&
      call.decision.sources.size() > 1)
    return false;
  if (!call.decision.isFAD())
    return false;
  endBases(call);
  return true;
}

/// Whether the operator is part of a sequence, and was called. Nothing of the
/// call remains.
static bool nestBoxed(const Operator &info, const c10::OperatorHandle &op,
                      c10::DispatchKeySet keys, torch::jit::Stack *stack) {
  std::vector<c10::IValue> arguments =
      torch::jit::last(*stack, op.schema().arguments().size()).vec();
  Call call = {op, info, arguments, modeOf(info, arguments)};
  if (!begin(call))
    return false;
  if (call.mode.isDeferred) {
    at::Tensor result = defer(call);
    if (!result.defined())
      return false;
    torch::jit::drop(*stack, arguments.size());
    stack->emplace_back(std::move(result));
    return true;
  }
  redispatch(op, keys, stack);
  conclude(call,
           stack->end()[-static_cast<ptrdiff_t>(op.schema().returns().size())]
               .toTensor());
  return true;
}

void runKernel(const Operator &info, const c10::OperatorHandle &op,
               c10::DispatchKeySet keys, torch::jit::Stack *stack) {
  // PyTorch's node of a composite operator is that of its last part alone.
  if (isAutocast(op, keys) || isComposite(op, keys))
    return op.redispatchBoxed(belowKeys(keys), stack);
  if (!hasOurKeys(keys) || !isOurThread())
    return leave(op, keys, stack);
  if (!nestBoxed(info, op, keys, stack))
    leave(op, keys, stack);
}

} // namespace fad::eager
