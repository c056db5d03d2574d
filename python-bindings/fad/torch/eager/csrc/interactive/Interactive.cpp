//===- Interactive.cpp - Sequences whose operators run at once ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interactive/Interactive.h"
#include "interactive/Slope.h"
#include "sequence/Observer.h"
#include "sequence/OwnNode.h"
#include "sequence/Results.h"
#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>

namespace fad::eager {

namespace impl = torch::autograd::impl;
using torch::autograd::Edge;

namespace {
/// A derivative: a number, or a tensor times a number.
struct Factor {
  double number = 1;
  at::Tensor tensor;
};
} // namespace

/// B for an operand: its derivative, computed by its operator's own node.
static Factor derive(const Call &call, size_t i) {
  const Held &held = call.description(i);
  switch (held.form) {
  case Derivative::Number:
    return {held.factor, {}};
  case Derivative::Operator:
    return {1, deriveOperator(call.tensor(i), held, call.own(i))};
  default:
    return {held.factor, held.tensor};
  }
}

static at::Tensor scale(const Factor &factor, const at::Tensor &tensor) {
  at::Tensor scaled = factor.tensor.defined() ? tensor * factor.tensor : tensor;
  return factor.number == 1 ? scaled : scaled * factor.number;
}

static at::Tensor add(const Factor &a, double alpha, const Factor &b,
                      double beta) {
  alpha *= a.number;
  beta *= b.number;
  if (!a.tensor.defined())
    return b.tensor * beta + alpha;
  if (!b.tensor.defined())
    return a.tensor * alpha + beta;
  return alpha == 1 ? at::add(a.tensor, b.tensor, beta)
                    : a.tensor * alpha + b.tensor * beta;
}

/// Whether a tensor like another is nobody else's, so that a result may have
/// its memory.
static bool isFree(const at::Tensor &tensor, const at::Tensor &like) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1 &&
         isDenseLike(tensor, like);
}

/// term + a * b * number. Memory takes more time than the sum of a small
/// tensor.
static at::Tensor addProduct(at::Tensor term, const at::Tensor &a, at::Tensor b,
                             double number) {
  for (at::Tensor *place : {&term, &b})
    if (isFree(*place, a))
      return at::addcmul_out(*place, term, a, b, number);
  return at::addcmul(term, a, b, number);
}

/// term + number * tensor.
static at::Tensor addMultiple(at::Tensor term, const at::Tensor &tensor,
                              double number) {
  return isFree(term, tensor) ? at::add_out(term, term, tensor, number)
                              : at::add(term, tensor, number);
}

/// B for a product.
static at::Tensor deriveProduct(const Call &call) {
  // The node of an operand's operator multiplies by a gradient in any case, and
  // so by the other operand.
  auto isMultiplied = [&](size_t i) {
    const Held &held = call.description(i);
    return held.form == Derivative::Operator &&
           held.factor * held.before == 1 && held.offset == 0;
  };
  // A derivative that is a tensor comes second: `addcmul` multiplies by it and
  // adds in one call.
  auto isAdded = [&](size_t i) {
    const Held &held = call.description(i);
    return held.form != Derivative::Number && !isMultiplied(i);
  };
  size_t first = isMultiplied(1) || isAdded(0) ? 1 : 0, second = 1 - first;
  const at::Tensor &one = call.tensor(first), &other = call.tensor(second);
  const Held &held = call.description(first);
  const Held &rest = call.description(second);
  // The node's saved tensor is the operand, if its operator was the last.
  if (isMultiplied(first) && held.isLast && rest.form == Derivative::Number)
    if (at::Tensor all =
            deriveProductInOnePass(other, rest.factor, one, held.slope);
        all.defined())
      return all;
  at::Tensor term = isMultiplied(first) ? callOwn(call.own(first), other)
                                        : scale(derive(call, first), other);
  if (isMultiplied(second))
    return addMultiple(std::move(term), callOwn(call.own(second), one), 1);
  Factor factor = derive(call, second);
  return factor.tensor.defined()
             ? addProduct(std::move(term), one, std::move(factor.tensor),
                          factor.number)
             : addMultiple(std::move(term), one, factor.number);
}

/// B for the result.
static at::Tensor deriveResult(const Call &call, const NodePtr &own,
                               const at::Tensor &result) {
  if (call.count() == 2 && call.use.kind == Kind::Product)
    return deriveProduct(call);
  Factor first = derive(call, 0);
  if (call.count() == 1)
    return callOwn(own, first.tensor.defined()
                            ? scale({first.number}, first.tensor)
                            : filled(first.number, result));
  Factor second = derive(call, 1);
  if (call.use.kind == Kind::Linear)
    return add(first, call.use.factors[0], second, call.use.factors[1]);
  std::vector<at::Tensor> parts = (*own)({filled(1, result)});
  TORCH_INTERNAL_ASSERT(parts.size() == 2);
  return scale(first, parts[0]) + scale(second, parts[1]);
}

/// Whether the derivative of the result is that of an operand, times a number.
static bool isShared(const Call &call) {
  return call.decision.derivative == Derivative::Tensor && call.count() == 1 &&
         call.use.kind == Kind::Linear;
}

/// Finds the derivative of the result of a sequence, whose operator has the
/// node `own`.
static void deriveHeld(const Call &call, const NodePtr &own,
                       const at::Tensor &result, const StepPtr &step,
                       Held &held) {
  describeHeld(call, step, held);
  if (held.form == Derivative::Operator)
    held.own =
        call.use.kind == Kind::Linear ? call.own(call.findOperator()) : own;
  if (isShared(call)) {
    held.tensor = call.description(0).tensor;
    held.factor = call.description(0).factor * call.use.factors[0];
  } else if (held.form == Derivative::Tensor) {
    // Without gradients, autograd has nothing to do.
    at::AutoDispatchBelowADInplaceOrView below;
    held.tensor = deriveResult(call, own, result).to(call.use.type);
  }
}

SequenceNode *ownNode(const at::Tensor &tensor, Value &value) {
  if (value.sequence)
    return value.sequence;
  torch::autograd::Node *own = nodeOf(tensor);
  auto node = makeNode<SequenceNode>();
  node->held = value.held;
  node->held.own = value.own();
  node->number = value.step ? value.step->number : 0;
  for (const Edge &edge : own->next_edges())
    if (edge.is_valid() && std::find(node->sources.begin(), node->sources.end(),
                                     sourceOf(edge)) == node->sources.end())
      node->addSource(edge);
  node->replace(*own, tensor);
  value.node = node.get();
  value.sequence = node.get();
  return value.sequence;
}

/// A first operator's value gets a node that what it saved can be taken from,
/// unless some operator other than the call's, whose node is `reader` and whose
/// result has the derivative `result`, has an edge to PyTorch's.
static void promote(const Call &call, const at::Tensor &tensor, Value &value,
                    const torch::autograd::Node &reader, const Held &result) {
  if (value.sequence)
    return;
  torch::autograd::Node *own = nodeOf(tensor);
  // References of the tensor, and of a result that shares the node.
  int64_t expected = 1 + (result.own.get() == own ? 1 : 0);
  for (const Edge &edge : reader.next_edges())
    expected += edge.function.get() == own;
  for (const Edge &edge : call.edges)
    expected += edge.function.get() == own;
  if (countOwners(own) <= expected)
    ownNode(tensor, value);
}

/// Whether the result is as the state machine was told.
static bool fits(const Call &call, const at::Tensor &result) {
  for (size_t i = 0; i < call.count(); ++i) {
    const at::Tensor &tensor = call.tensor(i);
    if (result.device() != tensor.device() ||
        (!call.use.sums && !result.sizes().equals(tensor.sizes())))
      return false;
  }
  return !isView(result) && result.scalar_type() == call.use.type;
}

static void describe(const Call &call, const Value &value,
                     const at::Tensor &result) {
  Event event = {call.op.schema().operator_name().name.substr(6),
                 call.decision.state,
                 std::string(components(call.decision.state)),
                 {},
                 {}};
  if ((!call.decision.derives() || isShared(call)) &&
      call.decision.state == State::YY)
    event.components = "A D";
  auto bytes = static_cast<int64_t>(result.nbytes());
  const Held &held = value.description();
  if (held.form == Derivative::Operator) {
    static constexpr const char *what[] = {"", "input of ", "result of ",
                                           "constant of "};
    event.saved = {
        {what[static_cast<size_t>(held.saves)] + held.label(), bytes}};
  }
  if (held.form == Derivative::Tensor)
    event.saved = {{"derivative", bytes}};
  trace.record(std::move(event));
}

static void tell(const Call &call, const Value &value,
                 const at::Tensor &result) {
  if (C10_UNLIKELY(call.mode.isTraced))
    describe(call, value, result);
  if (C10_UNLIKELY(call.mode.isObserved))
    observer->onOperator(call, result);
}

/// The source that PyTorch's node of the result of a lone operand leads to.
static Source findSource(const at::Tensor &result) {
  for (const Edge &edge : nodeOf(result)->next_edges())
    if (edge.is_valid())
      return sourceOf(edge);
  return {};
}

/// NY, or a cast to a wider type: PyTorch's node of the result is its
/// derivative.
static void start(Call &call, const at::Tensor &result) {
  if (call.edges.empty()) {
    call.known[0].self = findSource(result);
    if (!call.known[0].self.node)
      return;
    setMemory(call.known[0].self, call.tensor(0));
    call.decision.sources = {call.known[0].self};
  }
  auto value = c10::make_intrusive<Value>(result, call.mode);
  value->sources = call.decision.sources;
  value->saved = call.decision.saved;
  value->paid = call.decision.paid;
  value->constants = call.constants;
  value->step = recordCall(call);
  describeHeld(call, value->step, value->held);
  if (value->step)
    noteResult(call, *value->step, result);
  if (call.widens) {
    if (call.values[0] && !call.values[0]->isWidened())
      promote(call, call.tensor(0), *call.values[0], *nodeOf(result),
              value->held);
    value->held.factor = 1;
    widen(call, {value->node, result.output_nr()}, *value);
  }
  tell(call, *value, result);
  attach(result, std::move(value));
}

/// A sequence that goes on from a view goes past the nodes between it and its
/// base, and past that of the base.
static void skipView(SequenceNode &node, const at::Tensor &tensor,
                     Value &view) {
  ++view.continuations;
  torch::autograd::Node *base = nodeOf(view.base);
  for (torch::autograd::Node *each = nodeOf(tensor); each != base;) {
    Edge edge = each->next_edge(0);
    each = edge.function.get();
    // A source.
    if (each == base && anyValueOf(view.base)->isWidened())
      break;
    node.skip(std::move(edge));
  }
}

/// Notes the value that the operator of the derivative saves.
static void noteOperand(const Call &call, Held &held) {
  const size_t i = call.findOperator();
  if (held.form != Derivative::Operator || !call.values[i])
    return;
  const Held &operand = call.description(i);
  bool isLinear = call.use.kind == Kind::Linear;
  bool savesOperand =
      isLinear ? operand.savesValue() : call.use.saves == Saves::Input;
  if (savesOperand)
    held.operand.emplace(
        c10::intrusive_ptr<c10::BackendMeta>::unsafe_reclaim_from_nonowning(
            call.values[i]));
  else if (isLinear)
    held.operand = operand.operand;
}

/// YY: the result gets a node that leads to the sources.
static void extend(Call &call, const at::Tensor &result) {
  at::AutoGradMode off(false);
  PlainGuard guard;
  c10::SmallVector<Edge, 2> sources = findSources(call);
  for (const Edge &edge : sources)
    if (!edge.is_valid())
      return;
  NodePtr own = share(nodeOf(result));
  auto node = makeNode<SequenceNode>();
  StepPtr step = recordCall(call);
  if (!step && call.decision.derivative == Derivative::Steps)
    return;
  deriveHeld(call, own, result, step, node->held);
  if (node->held.form == Derivative::Tensor && !isShared(call) &&
      node->held.tensor.scalar_type() != result.scalar_type())
    return;
  if (step)
    noteResult(call, *step, result);
  node->number = step ? step->number : 0;
  node->isWide =
      call.info.form == Form::Cast &&
      c10::elementSize(call.use.type) > call.tensor(0).element_size();
  node->next_edges().reserve(sources.size() + call.count());
  if (node->held.form == Derivative::Steps)
    node->setSteps(std::move(step));
  for (Edge &edge : sources)
    node->addSource(std::move(edge));
  for (size_t i = 0; i < call.count(); ++i)
    if (call.values[i] && !call.values[i]->isWidened()) {
      if (call.values[i]->base.defined())
        skipView(*node, call.tensor(i), *call.values[i]);
      else
        promote(call, call.tensor(i), *call.values[i], *own, node->held);
      node->skip(edgeOf(call.tensor(i)));
      // An operator of one of several sequences that go on from the value may
      // save it, and its tensor may go before they end. It is the same value
      // for those after the second.
      if (SequenceNode *operand = call.values[i]->sequence;
          operand && operand->skips == 2 && call.mode.policy == Policy::Auto)
        operand->beginning.setLast(call.tensor(i));
      node->skipCastsOf(call.edges[i].function.get());
    }
  for (Edge &edge : findJoined(call))
    node->skip(std::move(edge));
  noteOperand(call, node->held);
  node->replace(*own, result);
  auto value = c10::make_intrusive<Value>(result, call.mode);
  value->sources = call.decision.sources;
  value->saved = call.decision.saved;
  value->paid = call.decision.paid;
  value->constants = call.constants;
  value->sequence = node.get();
  value->step = std::move(step);
  tell(call, *value, result);
  attach(result, std::move(value));
}

void conclude(Call &call, const at::Tensor &result) {
  if (!nodeOf(result) || !fits(call, result))
    return;
  try {
    call.decision.state == State::NY || call.widens ? start(call, result)
                                                    : extend(call, result);
  } catch (const c10::Error &error) {
    // An operand's backward function failed, for one because a value that it
    // saved was changed in place. PyTorch's own graph is still there, and
    // reports it in backward.
    if (isTraced())
      trace.keep(error.what_without_backtrace());
  }
}

} // namespace fad::eager
