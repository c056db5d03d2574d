//===- Kernel.cpp - Fad operators in the mode -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Defer.h"
#include "Observer.h"
#include "SequenceNode.h"
#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/SavedTensorHooks.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/graph_task.h>

namespace fad::eager {

namespace impl = torch::autograd::impl;
using torch::autograd::Edge;

/// A sequence ends after as many operators: what backward may run again is bounded.
static constexpr uint32_t maxLength = 128;

/// Keys of others that have to see every operator.
static const c10::DispatchKeySet foreignKeys(
    {c10::DispatchKey::Python, c10::DispatchKey::Fake, c10::DispatchKey::FuncTorchGradWrapper,
     c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
     c10::DispatchKey::FuncTorchDynamicLayerBackMode, c10::DispatchKey::Functionalize,
     c10::DispatchKey::Tracer, c10::DispatchKey::PythonTLSSnapshot,
     c10::DispatchKey::PreDispatch, c10::DispatchKey::PythonDispatcher,
     c10::DispatchKey::AutogradNestedTensor});

bool isOurs(c10::DispatchKeySet keys) {
  return at::GradMode::is_enabled() && keys.has_any(c10::autograd_dispatch_keyset) &&
         !keys.has_any(foreignKeys) &&
         !torch::autograd::get_current_graph_task_exec_info() &&
         !c10::impl::TorchDispatchModeTLS::any_modes_set() &&
         at::SavedTensorDefaultHooks::get_tls_state().stack.empty();
}

namespace {
/// A derivative as a number, or as a tensor.
struct Factor {
  double number = 1;
  at::Tensor tensor;
};
} // namespace

static bool isSupported(const at::Tensor &tensor) {
  auto *meta = impl::get_autograd_meta(tensor);
  return tensor.layout() == at::kStrided && at::isFloatingType(tensor.scalar_type()) &&
         tensor.numel() >= options.minNumel && tensor.numel() > 0 && !tensor.is_inference() &&
         tensor.is_non_overlapping_and_dense() && !(meta && meta->fw_grad_);
}

/// Collects the operands. False where the operator is to be left to PyTorch.
static bool collect(Call &call) {
  call.known.reserve(2);
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
    if (call.positions.size() == 2 || !isSupported(tensor))
      return false;
    Value *value = valueOf(tensor);
    // What Auto left of a sequence leads to its sources alone, and few bits lead nowhere.
    if (value && value->isFinished &&
        (options.policy == Policy::Auto || value->policy == Policy::Auto || value->bits ||
         value->isDeferred))
      value = nullptr;
    if (value && value->isDeferred && !isContinued(tensor, *value))
      value = nullptr;
    // A sequence has one policy and one engine: another one begins at the value, once it is
    // finished.
    if (value && (value->policy != options.policy || value->isDeferred != options.isDeferred))
      return false;
    if (value && (options.policy == Policy::Auto || options.isDeferred)) {
      StepPtr steps = value->steps();
      if (!steps || steps->length >= maxLength)
        return false;
    }
    Operand operand;
    call.edges.push_back(impl::gradient_edge(tensor));
    operand.self = sourceOf(call.edges.back());
    if (value) {
      operand.isFAD = true;
      operand.sources = value->sources;
      operand.derivative = value->description().form;
      operand.isPiecewise = value->description().isPiecewise;
    }
    call.positions.push_back(i);
    call.tensors.push_back(tensor);
    call.values.push_back(value);
    call.known.push_back(std::move(operand));
  }
  return !call.positions.empty();
}

/// B for an operand: its derivative, computed by its operator's own node.
static Factor derive(const Held &held, const at::Tensor &tensor) {
  switch (held.form) {
  case Derivative::Number:
    return {held.factor, {}};
  case Derivative::Operator:
    return {1, callOwn(*held.own, filled(held.factor * held.before, tensor))};
  default:
    return {1, held.tensor};
  }
}

static at::Tensor scale(const Factor &factor, const at::Tensor &tensor) {
  return factor.tensor.defined() ? tensor * factor.tensor
         : factor.number == 1    ? tensor
                                 : tensor * factor.number;
}

static at::Tensor add(const Factor &a, double alpha, const Factor &b, double beta) {
  if (!a.tensor.defined())
    return b.tensor * beta + a.number * alpha;
  if (!b.tensor.defined())
    return a.tensor * alpha + b.number * beta;
  return alpha == 1 ? at::add(a.tensor, b.tensor, beta) : a.tensor * alpha + b.tensor * beta;
}

/// B for the result.
static at::Tensor deriveResult(const Call &call, torch::autograd::Node &own,
                               const at::Tensor &result) {
  Factor first = derive(call.derivative(0), call.tensors[0]);
  if (call.tensors.size() == 1) {
    if (call.use.kind == Kind::Linear)
      return first.tensor * call.use.factors[0];
    return callOwn(own, first.tensor.defined() ? first.tensor : filled(first.number, result));
  }
  Factor second = derive(call.derivative(1), call.tensors[1]);
  if (call.use.kind == Kind::Linear)
    return add(first, call.use.factors[0], second, call.use.factors[1]);
  if (call.use.kind == Kind::Product) {
    const at::Tensor &one = call.tensors[0], &other = call.tensors[1];
    if (!first.tensor.defined() && first.number == 1 && second.tensor.defined())
      return at::addcmul(other, one, second.tensor);
    at::Tensor sum = scale(second, one);
    return first.tensor.defined() ? at::addcmul(sum, other, first.tensor)
                                  : at::add(sum, other, first.number);
  }
  std::vector<at::Tensor> parts = own({filled(1, result)});
  TORCH_INTERNAL_ASSERT(parts.size() == 2);
  return scale(first, parts[0]) + scale(second, parts[1]);
}

Held deriveHeld(const Call &call, const NodePtr &own, const at::Tensor &result) {
  // Without gradients, autograd has nothing to do.
  at::AutoDispatchBelowADInplaceOrView below;
  Held held;
  held.form = call.decision.derivative;
  held.isPiecewise = call.decision.isPiecewise;
  held.name = call.info.name;
  switch (held.form) {
  case Derivative::Number:
    held.factor = 0;
    for (size_t i = 0; i < call.tensors.size(); ++i)
      held.factor += call.description(i).factor * call.use.factors[i];
    break;
  case Derivative::Operator:
    if (call.use.kind == Kind::Linear) {
      Held operand = call.derivative(0);
      held.own = operand.own;
      held.factor = operand.factor * call.use.factors[0];
      held.before = operand.before;
      held.name = operand.name;
      held.saves = operand.saves;
      held.isFirst = operand.isFirst;
    } else {
      held.own = own;
      held.before = call.description(0).factor;
      held.saves = call.info.saves;
      held.isFirst = !call.values[0];
      held.isLast = true;
    }
    break;
  case Derivative::Tensor:
    held.tensor = deriveResult(call, *own, result);
    break;
  case Derivative::Steps:
    break;
  }
  return held;
}

StepPtr recordCall(const Call &call) {
  if (options.policy != Policy::Auto && !options.bits && !options.isDeferred)
    return {};
  std::vector<std::pair<size_t, StepPtr>> operands;
  StepPtr source;
  for (size_t i = 0; i < call.positions.size(); ++i) {
    StepPtr step = call.values[i] ? call.values[i]->steps() : StepPtr();
    if (!step || step->length >= maxLength) {
      bool isSame = source && source->source == call.known[i].self;
      step = source = isSame ? source : recordSource(call.tensors[i], call.known[i].self);
    }
    operands.emplace_back(call.positions[i], std::move(step));
  }
  return record(call.op, call.arguments.vec(), std::move(operands));
}

/// A first operator's value gets a node that what it saved can be taken from, unless
/// some operator other than the call's, whose node is `reader` and whose result has the
/// derivative `result`, has an edge to PyTorch's.
static void promote(const Call &call, const at::Tensor &tensor, Value &value,
                    const Edge &source, const torch::autograd::Node &reader,
                    const Held &result) {
  if (value.sequence)
    return;
  NodePtr own = tensor.grad_fn();
  // References of the tensor, of this function, and of a result that shares the node.
  size_t expected = 2 + (result.own == own ? 1 : 0);
  for (const Edge &edge : reader.next_edges())
    expected += edge.function.get() == own.get();
  for (const Edge &edge : call.edges)
    expected += edge.function.get() == own.get();
  if (own.use_count() > expected)
    return;
  auto node = c10::make_intrusive<SequenceNode>();
  node->hold(value.derivative());
  node->addSource(source);
  auto input = node->add_input_metadata(tensor);
  value.node = node.get();
  value.sequence = node.get();
  impl::set_gradient_edge(tensor, {std::move(node), input});
}

std::vector<Edge> findSources(const Call &call) {
  std::vector<Edge> edges;
  for (const Source &source : call.decision.sources) {
    Edge found;
    for (size_t i = 0; i < call.tensors.size() && !found.is_valid(); ++i) {
      const Edge &own = call.edges[i];
      if (!call.values[i]) {
        if (sourceOf(own) == source)
          found = own;
        continue;
      }
      for (const Edge &edge : own.function->next_edges())
        if (edge.is_valid() && sourceOf(edge) == source)
          found = edge;
    }
    edges.push_back(std::move(found));
  }
  return edges;
}

/// Whether values of the sequence have one shape, type and layout.
static bool fits(const Call &call, const at::Tensor &result) {
  for (const at::Tensor &tensor : call.tensors)
    if (!result.sizes().equals(tensor.sizes()) || result.scalar_type() != tensor.scalar_type() ||
        result.device() != tensor.device())
      return false;
  return !result.is_view();
}

static void describe(const Call &call, const Value &value, const at::Tensor &result) {
  Event event = {call.op.schema().operator_name().name.substr(6), call.decision.state,
                 std::string(components(call.decision.state)), {}, {}};
  if (!call.decision.derives() && call.decision.state == State::YY)
    event.components = "A D";
  auto bytes = static_cast<int64_t>(result.nbytes());
  Held held = value.derivative();
  if (held.form == Derivative::Operator)
    event.saved = {
        {(held.saves == Saves::Input ? "input of " : "result of ") + held.label(), bytes}};
  if (held.form == Derivative::Tensor)
    event.saved = {{"derivative", bytes}};
  trace.record(std::move(event));
}

static void tell(const Call &call, const Value &value, const at::Tensor &result) {
  if (isTraced())
    describe(call, value, result);
  if (isObserved())
    observeOperator(call.info, call.arguments, call.positions, call.values, result);
}

/// NY: PyTorch's node of the result is its derivative.
static void start(Call &call, const at::Tensor &result) {
  auto value = c10::make_intrusive<Value>(result);
  value->sources = call.decision.sources;
  NodePtr own = result.grad_fn();
  value->held = deriveHeld(call, own, result);
  value->held.own.reset();
  value->step = recordCall(call);
  tell(call, *value, result);
  attach(result, std::move(value));
}

/// YY: the result gets a node that leads to the sources.
static void extend(Call &call, const at::Tensor &result) {
  at::AutoGradMode off(false);
  PlainGuard guard;
  std::vector<Edge> sources = findSources(call);
  for (const Edge &edge : sources)
    if (!edge.is_valid())
      return;
  NodePtr own = result.grad_fn();
  Held held = deriveHeld(call, own, result);
  if (held.form == Derivative::Tensor && held.tensor.scalar_type() != result.scalar_type())
    return;
  StepPtr step = recordCall(call);
  auto node = c10::make_intrusive<SequenceNode>();
  node->hold(std::move(held));
  if (node->held.form == Derivative::Steps)
    node->step = std::move(step);
  for (Edge &edge : sources)
    node->addSource(edge);
  for (size_t i = 0; i < call.tensors.size(); ++i)
    if (call.values[i]) {
      if (call.values[i]->sources.size() == 1)
        for (size_t k = 0; k < sources.size(); ++k)
          if (node->sources[k] == call.values[i]->sources[0])
            promote(call, call.tensors[i], *call.values[i], sources[k], *own, node->held);
      node->skip(impl::gradient_edge(call.tensors[i]));
    }
  auto input = node->add_input_metadata(result);
  impl::set_gradient_edge(result, {node, input});
  auto value = c10::make_intrusive<Value>(result);
  value->sources = call.decision.sources;
  value->sequence = node.get();
  value->step = std::move(step);
  tell(call, *value, result);
  attach(result, std::move(value));
}

bool begin(Call &call) {
  if (!collect(call))
    return false;
  call.use = classify(call.info, call.arguments, call.positions);
  call.decision = decide(options.policy, call.use.kind, call.known);
  return call.decision.isFAD();
}

void conclude(Call &call, const at::Tensor &result) {
  if (!result.grad_fn() || !fits(call, result))
    return;
  try {
    call.decision.state == State::NY ? start(call, result) : extend(call, result);
  } catch (const c10::Error &error) {
    // An operand's backward function failed, for one because a value that it saved was
    // changed in place. PyTorch's own graph is still there, and reports it in backward.
    if (isTraced())
      trace.keep(error.what_without_backtrace());
  }
}

void runKernel(const Operator &info, const c10::OperatorHandle &op, c10::DispatchKeySet keys,
               torch::jit::Stack *stack) {
  if (!isOurs(keys))
    return leave(op, keys, stack);
  std::vector<c10::IValue> arguments =
      torch::jit::last(*stack, op.schema().arguments().size()).vec();
  Call call = {op, info, arguments};
  if (!begin(call))
    return leave(op, keys, stack);
  if (options.isDeferred) {
    at::Tensor result = defer(call, keys);
    if (!result.defined())
      return leave(op, keys, stack);
    torch::jit::drop(*stack, arguments.size());
    stack->emplace_back(std::move(result));
    return;
  }
  redispatch(op, keys, stack);
  conclude(call, stack->back().toTensor());
}

} // namespace fad::eager
