//===- Defer.cpp - Recording operators ------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Defer.h"
#include "deferred/Fused.h"
#include "sequence/Observer.h"
#include <ATen/ATen.h>
#include <unordered_set>

namespace fad::eager {

namespace impl = torch::autograd::impl;

static bool isNumber(const at::Tensor &tensor) {
  return tensor.unsafeGetTensorImpl()->is_wrapped_number();
}

/// Whether the result has the device and sizes of `first`, and its order of
/// elements in memory.
static bool isLike(const at::Tensor &first, const Call &call) {
  for (const c10::IValue &argument : call.arguments) {
    if (argument.isScalar() && argument.toScalar().isComplex())
      return false;
    if (!argument.isTensor() || !argument.toTensor().defined())
      continue;
    const at::Tensor &tensor = argument.toTensor();
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
    if (!first.is_contiguous() || !tensor.is_contiguous() ||
        tensor.dim() > first.dim())
      return false;
    for (int64_t i = 1; i <= tensor.dim(); ++i)
      if (tensor.size(-i) != 1 && tensor.size(-i) != first.size(-i))
        return false;
  }
  return true;
}

/// A tensor like another, without elements.
static at::Tensor makeShape(const at::Tensor &like) {
  at::Tensor shape = at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::computeDispatchKey(
          like.scalar_type(), like.layout(), like.device())),
      like.dtype(), like.device());
  shape.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(),
                                                     like.strides());
  return shape;
}

static void tell(const Call &call, const at::Tensor &result) {
  if (isTraced())
    trace.record({call.op.schema().operator_name().name.substr(6),
                  call.decision.state,
                  "D",
                  {},
                  {}});
  if (isObserved())
    observer->onOperator(call, result);
}

/// Whether a predicate holds of a step of a sequence.
template <typename Predicate>
static bool anyStep(const StepPtr &end, Predicate predicate) {
  std::vector<Step *> open = {end.get()};
  std::unordered_set<Step *> seen = {end.get()};
  while (!open.empty()) {
    Step *step = open.back();
    open.pop_back();
    if (predicate(*step))
      return true;
    for (auto &[position, operand] : step->operands)
      if (seen.insert(operand.get()).second)
        open.push_back(operand.get());
  }
  return false;
}

/// Whether a predicate holds of a source or a constant of a sequence.
template <typename Predicate>
static bool anyInput(const StepPtr &end, Predicate predicate) {
  return anyStep(end, [&](const Step &step) {
    return (!step.op && predicate(step.value)) ||
           std::any_of(step.constants.begin(), step.constants.end(), predicate);
  });
}

/// Whether a step may be computed later: a thread that writes to what the step
/// reads computes those that are listed, of which operands that were not
/// computed are `open`, before it does.
static bool isStable(const StepPtr &step, const Call &call,
                     c10::ArrayRef<const LazyTensor *> open,
                     const NoNewWrites &writes) {
  auto isWritten = [&](const Step::Constant &input) {
    return writes.isWritten(input);
  };
  auto isComputed = [](const LazyTensor *lazy) { return lazy->isComputed(); };
  if (std::any_of(open.begin(), open.end(), isComputed) ||
      std::any_of(step->constants.begin(), step->constants.end(), isWritten))
    return false;
  for (const auto &[position, operand] : step->operands)
    if (!operand->op && isWritten(operand->value))
      return false;
  for (size_t i = 0; i < call.count(); ++i)
    if (const Value *value = call.values[i];
        value && (value->isFinished || !isContinued(call.tensor(i), *value)))
      return false;
  return !writes.isAnyWritten() || !anyInput(step, isWritten);
}

at::Tensor defer(Call &call) {
  const at::Tensor &like = call.whole();
  if (!isLike(like, call) || isCapturing(like.device()))
    return {};
  auto sources = call.widens ? call.edges : findSources(call);
  for (const auto &edge : sources)
    if (!edge.is_valid())
      return {};
  bool isOneOperator = call.decision.derivative == Derivative::Operator;
  if (call.decision.derivative == Derivative::Tensor)
    call.decision.derivative = Derivative::Steps;
  PlainGuard guard;
  StepPtr step = recordCall(call);
  if (!step)
    return {};
  step->kernels = &kernelsOfSequences();
  step->policy = call.mode.policy;
  step->saves = call.use.saves;
  at::Tensor result =
      at::detail::make_tensor<LazyTensor>(step, like, call.use.type);
  auto &lazy = static_cast<LazyTensor &>(*result.unsafeGetTensorImpl());
  auto node = makeNode<SequenceNode>();
  node->number = step->number;
  describeHeld(call, step, node->held);
  node->held.isOneOperator = isOneOperator;
  if (call.widens)
    node->held.factor = 1;
  if (node->held.form != Derivative::Number) {
    node->held.form = Derivative::Steps;
    node->setSteps(step);
    lazy.open = step;
  }
  for (auto &edge : sources)
    node->addSource(std::move(edge));
  c10::SmallVector<const LazyTensor *, 3> open;
  for (size_t i = 0; i < call.count(); ++i)
    if (call.values[i]) {
      if (!call.widens && !call.values[i]->isWidened())
        node->skip(edgeOf(call.tensor(i)));
      if (!lazy.readsFrom(call.tensor(i)))
        open.push_back(lazyOf(call.tensor(i)));
    }
  if (!call.widens)
    for (torch::autograd::Edge &edge : findJoined(call))
      node->skip(std::move(edge));
  auto input = node->add_input_metadata(result);
  impl::set_gradient_edge(result, {node, input});
  auto value = c10::make_intrusive<Value>(result, call.mode);
  value->sources = call.decision.sources;
  value->saved = call.decision.saved;
  value->paid = call.decision.paid;
  value->constants = call.constants;
  value->sequence = node.get();
  if (!lazy.open)
    value->step = lazy.linear = step;
  if (call.widens) {
    widen(call, {node.get(), input}, *value);
    step->value = {makeShape(result), 0};
  }
  attach(result, std::move(value));
  auto tensors = LazyTensors::ofThread();
  {
    NoNewWrites writes;
    if (!isStable(step, call, open, writes))
      return {};
    tensors->add(lazy, tensors);
  }
  tell(call, result);
  return result;
}

void visitInputs(const StepPtr &end,
                 const std::function<void(const Step::Constant &)> &function) {
  anyInput(end, [&](const Step::Constant &input) {
    function(input);
    return false;
  });
}

bool readsMemoryOf(const StepPtr &end, const at::Tensor &tensor) {
  if (!tensor.has_storage())
    return false;
  const c10::Storage &memory = tensor.storage();
  auto isInput = [&](const Step::Constant &input) {
    return input.tensor.has_storage() &&
           input.tensor.storage().is_alias_of(memory);
  };
  return anyStep(end, [&](Step &step) {
    return step.isComputedIn(memory) || (!step.op && isInput(step.value)) ||
           std::any_of(step.constants.begin(), step.constants.end(), isInput);
  });
}

bool isContinued(const at::Tensor &tensor, const Value &value) {
  LazyTensor *lazy = lazyOf(tensor);
  if (lazy && (lazy->isOvertaken() ||
               lazy->getStream() != getCurrentStream(tensor.device())))
    return false;
  StepPtr steps = value.steps();
  return !lazy || !lazy->isComputed() || !steps || !anyInput(steps, isModified);
}

} // namespace fad::eager
