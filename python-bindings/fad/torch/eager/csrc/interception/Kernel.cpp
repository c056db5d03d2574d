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

bool isSupported(const at::Tensor &tensor, const Options &mode) {
  auto *meta = impl::get_autograd_meta(tensor);
  return tensor.layout() == at::kStrided &&
         at::isFloatingType(tensor.scalar_type()) &&
         tensor.numel() >= mode.minNumel && tensor.numel() > 0 &&
         !tensor.is_inference() && tensor.is_non_overlapping_and_dense() &&
         !(meta && meta->fw_grad_);
}

/// Collects the operands. False where the operator is to be left to PyTorch.
static bool collect(Call &call) {
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
    if (call.positions.size() == 2 || !isSupported(tensor, call.mode))
      return false;
    Value *value = valueOf(tensor);
    // A sequence that Auto left leads to its sources alone, and few bits
    // lead nowhere.
    if (value && value->isFinished &&
        (call.mode.policy == Policy::Auto || value->policy == Policy::Auto ||
         value->bits || value->isDeferred))
      value = nullptr;
    if (value && value->isDeferred && !isContinued(tensor, *value))
      value = nullptr;
    // A sequence has one policy and one engine: another one begins at the
    // value, once it is finished.
    if (value && (value->policy != call.mode.policy ||
                  value->isDeferred != call.mode.isDeferred))
      return false;
    if (value && (call.mode.policy == Policy::Auto || call.mode.isDeferred)) {
      const StepPtr &steps = value->steps();
      if (!steps || steps->length >= maxLength)
        return false;
    }
    Operand &operand = call.known.emplace_back();
    if (value) {
      operand.isFAD = true;
      operand.sources = value->sources;
      const Held &held = value->description();
      operand.derivative =
          held.isOneOperator ? Derivative::Operator : held.form;
      operand.isPiecewise = held.isPiecewise;
    }
    call.positions.push_back(i);
    call.values.push_back(value);
  }
  return !call.positions.empty();
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
  }
}

bool begin(Call &call) {
  if (call.mode.isDeferred)
    watchNewOperators();
  if (!collect(call))
    return false;
  findEdges(call);
  call.use = classify(call.info, call.arguments, call.positions);
  call.decision = decide(call.mode.policy, call.use.kind,
                         {call.known.data(), call.known.size()});
  return call.decision.isFAD();
}

/// Whether the operator is part of a sequence, and was called. Nothing of the
/// call remains.
static bool nestBoxed(const Operator &info, const c10::OperatorHandle &op,
                      c10::DispatchKeySet keys, torch::jit::Stack *stack) {
  std::vector<c10::IValue> arguments =
      torch::jit::last(*stack, op.schema().arguments().size()).vec();
  Call call = {op, info, arguments};
  if (!begin(call))
    return false;
  if (call.mode.isDeferred) {
    at::Tensor result = defer(call, keys);
    if (!result.defined())
      return false;
    torch::jit::drop(*stack, arguments.size());
    stack->emplace_back(std::move(result));
    return true;
  }
  redispatch(op, keys, stack);
  conclude(call, stack->back().toTensor());
  return true;
}

void runKernel(const Operator &info, const c10::OperatorHandle &op,
               c10::DispatchKeySet keys, torch::jit::Stack *stack) {
  if (!hasOurKeys(keys) || !isOurThread())
    return leave(op, keys, stack);
  if (!nestBoxed(info, op, keys, stack))
    leave(op, keys, stack);
}

} // namespace fad::eager
