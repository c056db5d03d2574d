//===- InPlace.cpp - Activations that write to their operand --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/InPlace.h"
#include "interception/Kernel.h"
#include "interception/Observer.h"
#include "interception/Writes.h"
#include <torch/csrc/autograd/generated/Functions.h>

namespace fad::eager {

namespace generated = torch::autograd::generated;

/// Whether sequences may have an operator that writes to a tensor.
static bool mayNest(const at::Tensor &tensor, c10::DispatchKeySet keys) {
  return hasOurKeys(keys) && tensor.requires_grad() && isOurThread() &&
         isSupported(tensor) && isLarge(tensor);
}

/// Why a tensor that an activation is going to write to does not become the
/// value of a sequence; null, if it may. It has to be none yet, and nothing
/// else may have its memory, through which writes would not be seen.
static const char *findObstacle(const at::Tensor &tensor) {
  Value *value = anyValueOf(tensor);
  // In a mode that defers sequences, one begins at the value of a
  // normalization.
  bool isFirst = value && !value->isDeferred && options.isDeferred &&
                 !value->isFinished && !value->sequence &&
                 !value->base.defined();
  if (lazyOf(tensor) || (value && value->isCurrent() && !isFirst))
    return "its operand is the value of a sequence";
  if (isView(tensor) || tensor.storage().use_count() != 1)
    return "something else has the memory of its operand, such as a view";
  // The paper's policy keeps what PyTorch does, and the deferred engine begins
  // anew after the operator.
  if (options.isDeferred && options.policy == Policy::Fad)
    return "the policy fad keeps as much of a lone activation as PyTorch";
  return nullptr;
}

/// The copy of the operand that PyTorch's node of an activation has; undefined
/// for other nodes.
static at::Tensor copyOfOperand(torch::autograd::Node &node) {
  auto read = [](const torch::autograd::SavedVariable &saved) {
    return saved.has_hooks() ? at::Tensor()
                             : saved.get_raw_data().value_or(at::Tensor());
  };
#define FAD_COPYING_NODE(type)                                                 \
  if (auto *own = dynamic_cast<generated::type *>(&node))                      \
    return read(own->self_);
#include "sequence/Operators.inc"
  return at::Tensor();
}

/// NY, where the operand is the copy.
static void startFromCopy(const Operator &info, const c10::OperatorHandle &pure,
                          std::vector<c10::IValue> arguments,
                          const at::Tensor &result) {
  torch::autograd::Node *node = nodeOf(result);
  at::Tensor copy = node ? copyOfOperand(*node) : at::Tensor();
  if (!copy.defined() || copy.storage().is_alias_of(result.storage()))
    return;
  arguments[0] = copy;
  Options mode = options;
  mode.isDeferred = false;
  Call call = {pure, info, arguments, mode};
  call.positions.push_back(0);
  call.values.push_back(nullptr);
  call.known.emplace_back();
  call.use = classify(info, arguments, call.positions);
  call.use.type = copy.scalar_type();
  Operation operation = {call.use.kind};
  operation.savedOperands = static_cast<int64_t>(copy.nbytes());
  call.decision =
      decide(mode.policy, operation, {call.known.data(), call.known.size()});
  conclude(call, result);
  // Operators that are deferred do not continue what is computed.
  Value *value = valueOf(result);
  if (value && options.isDeferred)
    finishInteractive(result, *value, /*readerSaves=*/true);
}

void runInPlace(const Operator &info, const c10::OperatorHandle &pure,
                const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                torch::jit::Stack *stack) {
  WriteUnderWay writing;
  prepareWrites(op, *stack, writing);
  std::vector<c10::IValue> arguments =
      torch::jit::last(*stack, op.schema().arguments().size()).vec();
  at::Tensor tensor = arguments[0].toTensor();
  bool isCandidate = mayNest(tensor, keys);
  const char *obstacle = isCandidate ? findObstacle(tensor) : nullptr;
  leave(op, keys, stack);
  if (obstacle && isObserved())
    observeLeft(op.operator_name(), obstacle);
  if (isCandidate && !obstacle)
    startFromCopy(info, pure, std::move(arguments), tensor);
}

void leaveInPlace(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
  WriteUnderWay writing;
  prepareWrites(op, *stack, writing);
  bool isCandidate =
      isObserved() &&
      mayNest(torch::jit::peek(*stack, 0, op.schema().arguments().size())
                  .toTensor(),
              keys);
  leave(op, keys, stack);
  if (isCandidate)
    observeLeft(op.operator_name(), "it saves its result alone, which its "
                                    "reader may keep as well");
}

} // namespace fad::eager
