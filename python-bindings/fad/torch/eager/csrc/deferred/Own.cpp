//===- Own.cpp - PyTorch's own nodes of deferred operators ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Own.h"
#include <map>

namespace fad::eager {

namespace impl = torch::autograd::impl;
using torch::autograd::Edge;

/// Whether the node has what gives the derivative of its value, and goes on to.
static bool isKeptAlready(const SequenceNode &node) {
  return node.isLeading || (node.isFinished && !node.isReleased &&
                            node.held.form != Derivative::Number);
}

Stretch::Stretch(SequenceNode &node, const StepPtr &end) {
  // Readers of a value have higher numbers than its operator.
  std::map<uint64_t, std::pair<SequenceNode *, int64_t>> open;
  auto addOperands = [&](const SequenceNode &reader) {
    for (const Edge &edge : reader.next_edges())
      if (auto *each = castTo<SequenceNode>(edge.function.get());
          each && each->number) {
        auto &[found, edges] = open[each->number];
        found = each;
        ++edges;
      }
  };
  addOperands(node);
  std::unordered_map<const Step *, SequenceNode *> between;
  while (!open.empty()) {
    auto [each, edges] = std::prev(open.end())->second;
    open.erase(std::prev(open.end()));
    // A source is a value of another sequence, or a cast of this one.
    StepPtr step = findStep(end, each->number);
    if (!step)
      continue;
    if (countOwners(each) > edges || isKeptAlready(*each)) {
      cuts.push_back(each);
    } else {
      between.emplace(step.get(), each);
      bool isSource = std::any_of(
          node.sources.begin(), node.sources.end(),
          [&](const Source &source) { return source.node == each; });
      if (!isSource)
        addOperands(*each);
    }
  }
  std::reverse(cuts.begin(), cuts.end());
  std::unordered_map<const Step *, SequenceNode *> found;
  auto visit = [&](const Step &step) {
    if (auto own = between.find(&step); own != between.end())
      if (step.saves == Saves::Result)
        found.insert(*own);
    for (const auto &[position, operand] : step.operands)
      if (auto own = between.find(operand.get());
          own != between.end() && step.saves == Saves::Input)
        found.insert(*own);
  };
  visit(*end);
  for (const auto &[step, each] : between)
    visit(*step);
  for (const auto &[step, each] : found)
    bytes += bytesOf(*each);
}

static std::vector<Cut> findCuts(SequenceNode &node, const StepPtr &end,
                                 const Originals &originals);

/// Runs the operators up to a value; the node leads to theirs.
static at::Tensor lead(SequenceNode &node, const StepPtr &end,
                       const Originals &originals) {
  std::vector<Cut> cuts = findCuts(node, end, originals);
  Replay replay(end, node.sources,
                {node.next_edges().data(), node.sources.size()}, originals,
                cuts);
  node.leadTo(impl::gradient_edge(replay.value()));
  return replay.value();
}

static std::vector<Cut> findCuts(SequenceNode &node, const StepPtr &end,
                                 const Originals &originals) {
  std::vector<Cut> cuts;
  const Stretch stretch(node, end);
  for (SequenceNode *each : stretch.shared()) {
    StepPtr step = findStep(end, each->number);
    Edge edge = {share<torch::autograd::Node>(each), 0};
    at::Tensor value;
    if (!LazyTensor::find(step, &value).is_valid()) {
      // Another thread may still compute it.
      bool isOver = each->isReleased || each->isFinished;
      if (!isOver)
        continue;
      value = step->findComputed(/*isSaved=*/true);
      if (each->isReleased) {
        value = lead(*each, step, originals);
        step->setComputed(std::make_shared<SavedValue>(value));
      } else if (!value.defined()) {
        value = compute(step);
      }
    }
    cuts.push_back({std::move(step), std::move(value), std::move(edge)});
  }
  return cuts;
}

at::Tensor runAllOwn(const StepPtr &step, Value &value,
                     const Originals &originals) {
  at::Tensor result = lead(*value.sequence, step, originals);
  value.isFinished = value.sequence->isFinished = true;
  value.step.reset();
  return result.detach();
}

/// Whether an operator's own node can replace that of the tensor, to which
/// nothing else refers.
static bool isReplaceable(const StepPtr &step, SequenceNode &node) {
  return step->length == 1 && countOwners(&node) == 1 && !hasHooks(node);
}

/// The place, among the operators of a sequence after those that are `known`,
/// of the one that is not linear.
static size_t findNonlinear(const StepPtr &end, Values known) {
  size_t place = 0;
  for (Step *step : order(end, &known, /*addsComputed=*/false)) {
    if (known.count(step) || !step->op)
      continue;
    if (!step->isLinear)
      return place;
    ++place;
  }
  TORCH_INTERNAL_ASSERT(false);
}

at::Tensor runOwn(const StepPtr &step, LazyTensor &tensor, Value &value,
                  const Originals &originals) {
  SequenceNode &node = *value.sequence;
  Replay replay(step, node.sources,
                {node.next_edges().data(), node.sources.size()}, originals);
  Values known;
  for (const StepPtr &source : findWidened(step, node.sources))
    known.emplace(source.get(), at::Tensor());
  NodePtr own = replay.node(findNonlinear(step, std::move(known)));
  value.isFinished = true;
  value.step.reset();
  if (isReplaceable(step, node)) {
    value.sequence = nullptr;
    value.node = own.get();
    impl::set_gradient_edge(*Borrowed(&tensor), {std::move(own), 0});
  } else {
    Held held = node.held;
    held.form = Derivative::Operator;
    held.own = std::move(own);
    node.held = std::move(held);
    node.setSteps(nullptr);
    node.isFinished = true;
  }
  return replay.value().detach();
}

} // namespace fad::eager
