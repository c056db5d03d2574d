//===- InPlace.cpp - Activations that write to their operand --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/LazyTensor.h"
#include "deferred/Writes.h"
#include "interactive/Interactive.h"
#include <torch/csrc/autograd/generated/Functions.h>

namespace fad::eager {

namespace generated = torch::autograd::generated;

/// Whether a tensor that an activation is going to write to may become the
/// value of a sequence. It is none yet, and nothing else has its memory,
/// through which writes would not be seen.
static bool mayBecomeValue(const at::Tensor &tensor) {
  if (!tensor.requires_grad() || !isOurThread() ||
      !isSupported(tensor, options) || isView(tensor) || lazyOf(tensor) ||
      tensor.storage().use_count() != 1)
    return false;
  // The paper's policy keeps what PyTorch does, and the deferred engine begins
  // anew after the operator.
  if (options.isDeferred && options.policy == Policy::Fad)
    return false;
  Value *value = anyValueOf(tensor);
  return !value || !value->isCurrent();
}

/// The tensor that a node of one of the given types has saved.
template <typename... Nodes>
static at::Tensor savedBy(torch::autograd::Node &node) {
  at::Tensor found;
  auto take = [&](auto *own) {
    if (own && !own->self_.has_hooks())
      found = own->self_.get_raw_data().value_or(at::Tensor());
  };
  (take(dynamic_cast<Nodes *>(&node)), ...);
  return found;
}

/// The copy of the operand that PyTorch's node of an activation has; undefined
/// for other nodes.
static at::Tensor copyOfOperand(torch::autograd::Node &node) {
  return savedBy<generated::SiluBackward0, generated::GeluBackward0,
                 generated::MishBackward0, generated::HardswishBackward0,
                 generated::HardsigmoidBackward0, generated::HardtanhBackward0,
                 generated::ClampBackward1, generated::ClampMinBackward0,
                 generated::ClampMaxBackward0>(node);
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
  call.decision = decide(mode.policy, call.use.kind,
                         {call.known.data(), call.known.size()});
  conclude(call, result);
  // Operators that are deferred do not continue what is computed.
  Value *value = valueOf(result);
  if (value && options.isDeferred)
    finishInteractive(result, *value, /*readerSaves=*/true);
}

void runInPlace(const Operator &info, const c10::OperatorHandle &pure,
                const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                torch::jit::Stack *stack) {
  prepareWrites(op, *stack);
  std::vector<c10::IValue> arguments =
      torch::jit::last(*stack, op.schema().arguments().size()).vec();
  at::Tensor tensor = arguments[0].toTensor();
  bool isStart = hasOurKeys(keys) && mayBecomeValue(tensor);
  leave(op, keys, stack);
  if (isStart)
    startFromCopy(info, pure, std::move(arguments), tensor);
}

} // namespace fad::eager
