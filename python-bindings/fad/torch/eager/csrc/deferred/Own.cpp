//===- Own.cpp - PyTorch's own nodes of deferred operators ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Own.h"
#include "sequence/Results.h"
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

/// The step of a sequence that is not linear, after casts that are sources.
static StepPtr findNonlinear(const StepPtr &end,
                             c10::ArrayRef<Source> sources) {
  Values known;
  for (const StepPtr &source : findWidened(end, sources))
    known.emplace(source.get(), at::Tensor());
  for (Step *step : order(end, &known, /*addsComputed=*/false))
    if (!known.count(step) && step->op && !step->isLinear)
      return StepPtr::unsafe_reclaim_from_nonowning(step);
  TORCH_INTERNAL_ASSERT(false);
}

namespace {
/// A value that an operator's own node has saved, and nobody has had yet.
struct OwnResult final : ComputedValue {
  explicit OwnResult(const at::Tensor &result) : saved(result) {}
  at::Tensor find() const override { return saved.findSaved(); }
  at::Tensor findSaved() const override { return saved.findSaved(); }
  bool isIn(const c10::Storage &memory) const override {
    return saved.isIn(memory);
  }

private:
  const SavedValue saved;
};
} // namespace

/// The operand of an operator that saves it, if that is no source: sequences
/// that go on from it may save it, too, and it is the same tensor.
static std::vector<Cut> cutAtOperand(const StepPtr &nonlinear,
                                     const SequenceNode &node) {
  if (nonlinear->saves != Saves::Input || nonlinear->operands.size() != 1)
    return {};
  StepPtr step = nonlinear->operands[0].second;
  if (!step->op || step->source.node)
    return {};
  auto mayBeWritten = [&](const Edge &edge) {
    auto *each = castTo<SequenceNode>(edge.function.get());
    return each && each->number == step->number && each->beginning.isEscaped;
  };
  const auto &edges = node.next_edges();
  at::Tensor operand = step->findComputed(
      /*isSaved=*/std::none_of(edges.begin(), edges.end(), mayBeWritten));
  if (!operand.defined()) {
    operand = compute(step);
    step->setComputed(std::make_shared<OwnResult>(operand));
  }
  Edge edge = leadToOperand(node.held, node.next_edge(0), operand);
  return {{std::move(step), std::move(operand), std::move(edge)}};
}

NodePtr findSharedOwn(const StepPtr &step, const SequenceNode &node) {
  return findNonlinear(step, node.sources)->findOwn();
}

at::Tensor runOwn(const StepPtr &step, LazyTensor &tensor, Value &value,
                  const Originals &originals) {
  SequenceNode &node = *value.sequence;
  const StepPtr nonlinear = findNonlinear(step, node.sources);
  // That of another sequence has saved what this one's would.
  NodePtr own = nonlinear->findOwn();
  at::Tensor result = own ? nonlinear->findComputed() : at::Tensor();
  const bool isReplaced = !own && isReplaceable(step, node);
  if (!own) {
    Replay replay(nonlinear, node.sources,
                  {node.next_edges().data(), node.sources.size()}, originals,
                  cutAtOperand(nonlinear, node));
    own = replay.last();
    result = replay.value().detach();
    if (!isReplaced && nonlinear->saves == Saves::Result) {
      own = makeResultNode(node.held, node.next_edge(0), result);
      nonlinear->setComputed(std::make_shared<OwnResult>(result));
    }
    if (!isReplaced)
      nonlinear->setOwn(own);
  }
  if (step != nonlinear || !result.defined())
    result = compute(step, result.defined() ? Values{{nonlinear.get(), result}}
                                            : Values());
  value.isFinished = true;
  value.step.reset();
  if (isReplaced) {
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
  return result;
}

} // namespace fad::eager
