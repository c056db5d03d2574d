//===- Defer.cpp - Sequences that are computed as a whole -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Defer.h"
#include "deferred/Fused.h"
#include "interactive/Interactive.h"
#include "sequence/Bits.h"
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/TypeProperties.h>
#include <c10/core/InferenceMode.h>
#include <unordered_set>

namespace fad::eager {

namespace impl = torch::autograd::impl;

namespace {
/// What is computed late is computed as in a thread that is in no mode.
struct OutsideModes {
  c10::InferenceMode normal{false};
  at::AutoGradMode off{false};
  c10::impl::ForceDispatchKeyGuard keys{
      c10::default_included_set, c10::default_excluded_set | bothKeys};
};
} // namespace

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

static bool isNumber(const at::Tensor &tensor) {
  return tensor.unsafeGetTensorImpl()->is_wrapped_number();
}

/// Whether the result has the type, device and sizes of the operands, and their order of
/// elements in memory.
static bool isLikeOperands(const Call &call) {
  const at::Tensor &first = call.tensors[0];
  at::native::ResultTypeState type = {};
  for (const c10::IValue &argument : call.arguments) {
    if (argument.isScalar() && argument.toScalar().isComplex())
      return false;
    if (!argument.isTensor() || !argument.toTensor().defined())
      continue;
    const at::Tensor &tensor = argument.toTensor();
    type = at::native::update_result_type_state(tensor, type);
    if (isNumber(tensor))
      continue;
    if (tensor.layout() != at::kStrided ||
        (tensor.dim() && tensor.device() != first.device()))
      return false;
    if (tensor.sizes().equals(first.sizes())) {
      if (!tensor.strides().equals(first.strides()))
        return false;
      continue;
    }
    // A smaller tensor is repeated.
    if (!first.is_contiguous() || !tensor.is_contiguous() || tensor.dim() > first.dim())
      return false;
    for (int64_t i = 1; i <= tensor.dim(); ++i)
      if (tensor.size(-i) != 1 && tensor.size(-i) != first.size(-i))
        return false;
  }
  return at::native::result_type(type) == first.scalar_type();
}

/// Whether autocast has a rule for an operator, which may change the type of its result.
static bool isAutocast(const c10::OperatorHandle &op, c10::DispatchKeySet keys) {
  c10::DispatchKeySet active = keys & c10::autocast_dispatch_keyset;
  return !active.empty() && op.hasKernelForDispatchKey(active.highestPriorityTypeId());
}

at::Tensor defer(Call &call, c10::DispatchKeySet keys) {
  if (isAutocast(call.op, keys) || !isLikeOperands(call))
    return {};
  std::vector<torch::autograd::Edge> sources = findSources(call);
  for (const auto &edge : sources)
    if (!edge.is_valid())
      return {};
  if (call.decision.derivative != Derivative::Number)
    call.decision.derivative = Derivative::Steps;
  PlainGuard guard;
  const at::Tensor &like = call.tensors[0];
  StepPtr step = recordCall(call);
  step->isDeferred = true;
  step->policy = options.policy;
  step->saves = call.info.saves;
  at::Tensor result = at::detail::make_tensor<LazyTensor>(step, like, like.strides());
  auto &lazy = static_cast<LazyTensor &>(*result.unsafeGetTensorImpl());
  auto node = c10::make_intrusive<SequenceNode>();
  node->held = deriveHeld(call, {}, result);
  if (node->held.form == Derivative::Steps)
    node->step = step;
  for (const auto &edge : sources)
    node->addSource(edge);
  for (size_t i = 0; i < call.tensors.size(); ++i)
    if (call.values[i]) {
      node->skip(impl::gradient_edge(call.tensors[i]));
      lazy.readsFrom(call.tensors[i]);
    }
  auto input = node->add_input_metadata(result);
  impl::set_gradient_edge(result, {node, input});
  auto value = c10::make_intrusive<Value>(result);
  value->sources = call.decision.sources;
  value->sequence = node.get();
  if (!node->step)
    value->step = std::move(step);
  attach(result, std::move(value));
  auto tensors = LazyTensors::ofThread();
  tensors->add(lazy, tensors);
  return result;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// The node of a lazy tensor, if that is still the sequence's and needs a derivative.
static SequenceNode *nodeOf(LazyTensor &tensor, Value *value) {
  if (!value || value->tensor != &tensor || !value->sequence || !value->isCurrent())
    return nullptr;
  SequenceNode *node = value->sequence;
  bool isOpen = !node->isReleased && node->held.form == Derivative::Steps && node->step;
  return isOpen ? node : nullptr;
}

/// The derivative, from the source. Undefined in a backward that asks for gradients of
/// other values alone.
static at::Tensor derive(const StepPtr &step, const SequenceNode &node,
                         const at::Tensor &like) {
  at::Tensor ones = at::ones_like(like);
  std::vector<at::Tensor> found = pullFused(step, ones, node.sources);
  return found.empty() ? Replay(step).pull(ones, node.sources, {})[0] : found[0];
}

/// Runs the only operator of a sequence, whose own node becomes that of the tensor.
static at::Tensor runOwn(const StepPtr &step, LazyTensor &tensor, Value &value) {
  SequenceNode &node = *value.sequence;
  torch::autograd::edge_list edges(node.next_edges().begin(),
                                   node.next_edges().begin() + node.sources.size());
  Replay replay(step, node.sources, edges);
  NodePtr own = replay.last();
  value.isFinished = true;
  value.step.reset();
  value.sequence = nullptr;
  value.node = own.get();
  at::Tensor self(
      c10::intrusive_ptr<c10::TensorImpl>::unsafe_reclaim_from_nonowning(&tensor));
  impl::set_gradient_edge(self, {std::move(own), 0});
  return replay.value().detach();
}

/// Whether an operator's own node can replace that of the tensor, to which nothing else
/// refers.
static bool isReplaceable(const StepPtr &step, SequenceNode &node) {
  return step->length == 1 && c10::raw::intrusive_ptr::use_count(&node) == 1 && !hasHooks(node);
}

static at::Tensor computeForward(const StepPtr &step) {
  at::Tensor value = computeFused(step, /*isForward=*/true);
  return value.defined() ? value : compute(step);
}

void evaluate(LazyTensor &tensor) {
  OutsideModes guard;
  StepPtr step = tensor.getStep();
  auto *value = dynamic_cast<Value *>(tensor.get_backend_meta());
  SequenceNode *node = nodeOf(tensor, value);
  if (!node || value->policy != Policy::Fad)
    return tensor.fill(computeForward(step));
  if (isReplaceable(step, *node))
    return tensor.fill(runOwn(step, tensor, *value));
  value->isFinished = node->isFinished = true;
  auto [result, derivative] = deriveFused(step);
  if (!result.defined()) {
    result = computeForward(step);
    derivative = derive(step, *node, result);
  }
  if (derivative.defined()) {
    node->held.tensor = std::move(derivative);
    node->held.form = Derivative::Tensor;
    node->step.reset();
  }
  value->step.reset();
  tensor.fill(result);
}

/// Whether a predicate holds of a source or a constant of a sequence.
template <typename Predicate>
static bool anyInput(const StepPtr &end, Predicate predicate) {
  std::vector<const Step *> open = {end.get()};
  std::unordered_set<const Step *> seen = {end.get()};
  while (!open.empty()) {
    const Step *step = open.back();
    open.pop_back();
    if (!step->op && predicate(step->value))
      return true;
    for (const Step::Constant &constant : step->constants)
      if (predicate(constant))
        return true;
    for (auto &[position, operand] : step->operands)
      if (seen.insert(operand.get()).second)
        open.push_back(operand.get());
  }
  return false;
}

bool readsMemoryOf(const StepPtr &end, const at::Tensor &tensor) {
  return tensor.has_storage() && anyInput(end, [&](const Step::Constant &input) {
    return input.tensor.has_storage() && input.tensor.storage().is_alias_of(tensor.storage());
  });
}

bool isContinued(const at::Tensor &tensor, const Value &value) {
  LazyTensor *lazy = lazyOf(tensor);
  StepPtr steps = value.steps();
  return !lazy || !lazy->isComputed() || !steps ||
         !anyInput(steps, [](const Step::Constant &input) {
           return static_cast<uint32_t>(input.tensor._version()) != input.version;
         });
}

//===----------------------------------------------------------------------===//
// The end of a sequence
//===----------------------------------------------------------------------===//

/// Keeps a bit for each element, where the derivative has two values.
static bool keepBits(const at::Tensor &tensor, SequenceNode &node) {
  OutsideModes guard;
  at::Tensor derivative = derive(node.step, node, tensor);
  if (derivative.defined())
    node.bits = packBits(derivative, node.values);
  if (!node.bits.defined())
    return false;
  node.held.form = Derivative::Tensor;
  node.step.reset();
  return true;
}

/// The operator that a sequence consists of keeps what eager PyTorch does, unless the
/// source and a reader that computes the value again, or bits, take less.
static bool keepsOwn(SequenceNode &node, bool readerSaves) {
  if (!isReplaceable(node.step, node))
    return false;
  return readerSaves ? node.step->saves == Saves::Result : !node.held.isPiecewise;
}

void finishDeferred(const at::Tensor &tensor, Value &value, bool readerSaves) {
  auto &lazy = static_cast<LazyTensor &>(*tensor.unsafeGetTensorImpl());
  SequenceNode *node = nodeOf(lazy, &value);
  if (value.policy == Policy::Fad || !node) {
    lazy.compute();
  } else if (!lazy.isComputed() && keepsOwn(*node, readerSaves)) {
    OutsideModes guard;
    lazy.computeAs([&](const StepPtr &step) { return runOwn(step, lazy, value); });
  } else {
    lazy.compute();
    bool isBits = !readerSaves && node->held.isPiecewise && keepBits(tensor, *node);
    value.isRecomputed = readerSaves && !isBits;
  }
  value.isFinished = true;
  if (!value.isRecomputed)
    value.step.reset();
  if (value.sequence)
    value.sequence->isFinished = true;
}

} // namespace fad::eager
