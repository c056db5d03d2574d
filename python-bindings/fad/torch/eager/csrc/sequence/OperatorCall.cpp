//===- OperatorCall.cpp - An operator while it is executed ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/OperatorCall.h"
#include "sequence/Observer.h"
#include <algorithm>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

namespace fad::eager {

using torch::autograd::Edge;

/// Whether operators of views alone lead from a leaf to a view.
static bool isViewOfLeaf(const at::Tensor &view) {
  torch::autograd::Node *node = nodeOf(view);
  while (node && node->num_outputs() == 1)
    node = node->next_edge(0).function.get();
  auto *leaf = dynamic_cast<torch::autograd::AccumulateGrad *>(node);
  return leaf && leaf->variable.has_storage() && view.has_storage() &&
         leaf->variable.storage().is_alias_of(view.storage());
}

/// Whether a leaf has the memory of a tensor, so that it is there anyway: a
/// view may be a leaf itself, or that of one, which may be a view of a buffer.
static bool isOfLeaf(const at::Tensor &tensor) {
  auto isLeaf = [](const at::Tensor &each) {
    return each.requires_grad() && !nodeOf(each);
  };
  if (isLeaf(tensor) || !isView(tensor))
    return isLeaf(tensor);
  const at::Tensor base(tensor._base());
  return isLeaf(base) || (!base.requires_grad() && isViewOfLeaf(tensor));
}

void setMemory(Source &source, const at::Tensor &tensor) {
  if (isOfLeaf(tensor))
    return;
  const c10::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  if (tensor.has_storage())
    source.memory = tensor.storage().unsafeGetStorageImpl();
  else
    source.memory = impl;
  source.bytes = static_cast<int64_t>(
      tensor.has_storage() ? tensor.storage().nbytes() : tensor.nbytes());
}

StepPtr recordCall(const Call &call) {
  // The policy fad computes from leaves alone again.
  bool hasLeaves =
      call.decision.paid == 0 && call.decision.sources.bytes() == 0;
  bool needsDerivatives = call.mode.policy != Policy::Auto && !call.mode.bits &&
                          !call.mode.isDeferred &&
                          call.decision.derivative != Derivative::Steps;
  if (needsDerivatives && !hasLeaves)
    return {};
  // Steps have their numbers in the order in which they are made.
  c10::SmallVector<StepPtr, 2> operands;
  StepPtr source;
  for (size_t i = 0; i < call.positions.size(); ++i) {
    StepPtr step = call.values[i] ? call.values[i]->steps() : StepPtr();
    bool isWhole = step && step->length < maxLength;
    // No value is a source of the sequence that goes on from it.
    if (call.values[i] && !isWhole)
      return {};
    if (!isWhole) {
      bool isSame = source && source->source == call.known[i].self;
      step = source = isSame ? source
                             : recordSource(call.tensor(i), call.known[i].self,
                                            call.mode.isDeferred);
    }
    operands.push_back(std::move(step));
  }
  StepPtr step = record(call.op, call.arguments, call.positions, operands,
                        call.mode.isDeferred);
  step->isLinear = call.use.kind == Kind::Linear;
  return step;
}

void widen(const Call &call, Source place, Value &value) {
  const Source &from =
      call.values[0] ? call.values[0]->sources.front() : call.known[0].self;
  place.memory = from.memory;
  place.bytes = from.bytes;
  place.root = from.isWidened() ? from.root : from.node;
  place.rootInput = from.isWidened() ? from.rootInput : from.input;
  place.isCopy = !call.values[0];
  value.sources = {place};
  if (value.step) {
    value.step->source = place;
    value.step->isWide = true;
    if (value.policy == Policy::Auto)
      value.step->beginning = value.beginning = std::make_shared<Beginning>();
  }
}

c10::SmallVector<Edge, 2> findSources(const Call &call) {
  c10::SmallVector<Edge, 2> edges;
  for (const Source &source : call.decision.sources) {
    Edge found;
    for (size_t i = 0; i < call.count() && !found.is_valid(); ++i) {
      if (!call.values[i] || call.values[i]->isWidened()) {
        if (sourceOf(call.edges[i]) == source)
          found = call.edges[i];
        continue;
      }
      // A view's own node leads to the base.
      const at::Tensor &base = call.values[i]->base;
      const torch::autograd::Node *node =
          base.defined() ? nodeOf(base) : call.edges[i].function.get();
      for (const Edge &edge : node->next_edges())
        if (edge.is_valid() && sourceOf(edge) == source)
          found = edge;
    }
    edges.push_back(std::move(found));
  }
  return edges;
}

c10::SmallVector<Edge, 2> findJoined(const Call &call) {
  c10::SmallVector<Edge, 2> joined;
  auto has = [](const Sources &sources, const Edge &edge) {
    return std::find(sources.begin(), sources.end(), sourceOf(edge)) !=
           sources.end();
  };
  auto add = [&](const Edge &edge) {
    if (!has(call.decision.sources, edge) &&
        std::find(joined.begin(), joined.end(), edge) == joined.end())
      joined.push_back(edge);
  };
  for (size_t i = 0; i < call.count(); ++i) {
    const Value *value = call.values[i];
    if (!value || !value->sources.areWidened())
      continue;
    if (value->isWidened()) {
      add(call.edges[i]);
      continue;
    }
    const torch::autograd::Node *node = value->base.defined()
                                            ? nodeOf(value->base)
                                            : call.edges[i].function.get();
    for (const Edge &edge : node->next_edges())
      if (edge.is_valid() && has(value->sources, edge))
        add(edge);
  }
  // A cast's operand may be a linear function of the source, whose nodes would
  // pass on that there is no gradient.
  for (size_t next = 0; next < joined.size(); ++next) {
    const NodePtr node = joined[next].function;
    for (const Edge &edge : node->next_edges())
      if (edge.is_valid())
        add(edge);
  }
  return joined;
}

static ConstantsPtr join(const ConstantsPtr &a, const ConstantsPtr &b) {
  if (!a || !b || a == b)
    return a ? a : b;
  Constants all = *a;
  for (const auto &each : *b)
    if (!each.expired() && std::find(a->begin(), a->end(), each) == a->end())
      all.push_back(each);
  return std::make_shared<const Constants>(std::move(all));
}

/// Values of the result's derivative besides the source.
static ConstantsPtr findConstants(const Call &call) {
  ConstantsPtr constants;
  for (size_t i = 0; i < call.count(); ++i)
    if (const ConstantsPtr &each = call.description(i).constants)
      constants = join(constants, each);
  bool isFactor =
      call.info.form == Form::Multiply || call.info.form == Form::Divide;
  if (!isFactor || call.positions.size() != 1)
    return constants;
  const c10::IValue &factor = call.arguments[1 - call.positions[0]];
  if (!factor.isTensor() || !factor.toTensor().defined() ||
      factor.toTensor().unsafeGetTensorImpl()->is_wrapped_number())
    return constants;
  Constants own;
  own.emplace_back(factor.toTensor().getIntrusivePtr());
  return join(constants, std::make_shared<const Constants>(std::move(own)));
}

void describeHeld(const Call &call, const StepPtr &step, Held &held) {
  if (call.mode.policy == Policy::Fad)
    held.constants = findConstants(call);
  held.form = call.decision.derivative;
  held.isPiecewise = call.decision.isPiecewise;
  held.name = call.info.name;
  if (held.form == Derivative::Number) {
    held.factor = 0;
    for (size_t i = 0; i < call.count(); ++i)
      held.factor += call.description(i).factor * call.use.factors[i];
  }
  if (held.form != Derivative::Operator)
    return;
  const size_t i = call.findOperator();
  const Held &operand = call.description(i);
  if (call.use.kind == Kind::Linear) {
    held.factor = operand.factor * call.use.factors[i];
    held.before = operand.before;
    held.offset = operand.offset * call.use.factors[i];
    held.isSum = operand.isSum || call.count() == 2;
    if (call.count() == 2) {
      const Held &other = call.description(1 - i);
      const double factor = call.use.factors[1 - i];
      const bool isSame = operand.operatorNumber &&
                          other.operatorNumber == operand.operatorNumber;
      (isSame ? held.factor : held.offset) += other.factor * factor;
      held.offset += other.offset * factor;
    }
    held.operatorNumber = operand.operatorNumber;
    held.name = operand.name;
    held.saves = operand.saves;
    held.isFirst = operand.isFirst;
  } else {
    held.before = operand.factor;
    held.operatorNumber = step ? step->number : 0;
    held.saves = call.use.saves;
    held.slope = call.info.slope;
    held.isFirst = !call.values[0];
    held.isLast = true;
  }
}

/// The node of the value that the operator of a derivative saves, or null. The
/// value's tensor may be gone; what is left of it tells which node it had. That
/// is alive, and no other one at its address, if this node's edges lead there:
/// they have since the value was read.
static SequenceNode *findOperand(SequenceNode &node) {
  if (!node.held.operand)
    return node.findResult();
  auto *operand = static_cast<Value *>(node.held.operand->_unsafe_get_target());
  return node.findSkipped(operand->sequence);
}

/// Whether a sequence that goes on from that value keeps the sources.
static bool savesCovered(SequenceNode &node) {
  const SequenceNode *operand = findOperand(node);
  return operand && operand->isCovered;
}

static bool isCovered(const Value &value, const Ending &ending,
                      const Choice &choice) {
  bool keepsOneOperator =
      choice.kept == Kept::Operator || choice.kept == Kept::Bits;
  return keepsOneOperator && value.policy == Policy::Auto && value.sequence &&
         (value.sequence->isCovered || savesCovered(*value.sequence)) &&
         ending.inputs() <=
             ending.saved + (ending.readerSaves ? ending.value : 0);
}

Choice chooseUnsaved(const Value &value, const Ending &ending, Choice &choice) {
  if (!value.steps() || !isCovered(value, ending, choice))
    return finishUnsaved(ending, choice);
  const Choice sources = {Kept::Sources, ending.readerSaves};
  if (choice.kept != Kept::Operator || !waitsForReader(ending))
    choice = sources;
  return sources;
}

void markShared(const Value &value, Sources &sources) {
  const StepPtr &steps = value.steps();
  if (!steps || !steps->isWide)
    return;
  Sources marked;
  for (Source source : sources) {
    for (const StepPtr &step : findWidened(steps, source))
      source.isShared = step->ends > 0;
    marked.push_back(source);
  }
  sources = marked;
}

void countEnd(const StepPtr &steps, const Sources &sources) {
  if (steps && steps->isWide)
    for (const StepPtr &step : findWidened(steps, sources))
      ++step->ends;
}

void end(const at::Tensor &tensor, Value &value, const Ending &ending,
         const Choice &choice) {
  value.isFinished = true;
  value.isRecomputed = choice.recomputes;
  // The policy fad goes on with any value.
  if (value.policy == Policy::Auto && choice.kept == Kept::Operator)
    if (const auto &operand = value.description().operand) {
      auto saved = operand->lock();
      if (auto *found = castTo<Value>(saved.get()); found && found->hasTensor())
        found->save();
      else if (SequenceNode *node =
                   value.sequence ? findOperand(*value.sequence) : nullptr)
        node->beginning.saveLast();
    }
  if (!choice.recomputes)
    value.step.reset();
  if (value.sequence) {
    value.sequence->isFinished = true;
    value.sequence->shareOwn();
  }
  if (isTraced())
    trace.keep(std::string(name(choice.kept)));
  if (isObserved())
    observer->onEnd(tensor, value, ending, choice);
}

} // namespace fad::eager
