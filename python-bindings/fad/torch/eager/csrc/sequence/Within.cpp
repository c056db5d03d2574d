//===- Within.cpp - Values within sequences that have ended ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Fork.h"
#include "sequence/SequenceNode.h"
#include <torch/csrc/autograd/graph_task.h>
#include <unordered_set>

namespace fad::eager {

using torch::autograd::Edge;

namespace {
/// Of the lists of nodes around others, which end in any thread.
struct Around {
  ProcessMutex mutex{Rank::Others};
};
} // namespace

static std::mutex &lockOfAll() { return OfProcess<Around>::get().mutex; }

/// The nodes of a list that are there still. Other threads may change it.
static std::vector<Owned<SequenceNode>>
shareAll(const std::vector<SequenceNode *> &list) {
  std::vector<Owned<SequenceNode>> nodes;
  std::lock_guard<std::mutex> lock(lockOfAll());
  for (SequenceNode *each : list)
    if (auto node = shareAlive(each))
      nodes.push_back(std::move(node));
  return nodes;
}

/// Calls a function with the nodes of the values that a node skips.
template <typename Visit>
static void visitSkipped(const SequenceNode &node, Visit visit) {
  for (size_t i = node.sources.size(); i < node.num_outputs(); ++i)
    if (auto *other = castTo<SequenceNode>(node.next_edge(i).function.get()))
      visit(*other);
}

/// The same with those that these skip, as long as it returns true.
template <typename Visit>
static void visitAllSkipped(const SequenceNode &node, Visit visit) {
  std::unordered_set<const SequenceNode *> seen;
  c10::SmallVector<const SequenceNode *, 8> open = {&node};
  while (!open.empty())
    visitSkipped(*open.pop_back_val(), [&](SequenceNode &other) {
      if (seen.insert(&other).second && visit(other))
        open.push_back(&other);
    });
}

SequenceNode *SequenceNode::findSkipped(const SequenceNode *within) const {
  SequenceNode *found = nullptr;
  visitAllSkipped(*this, [&](SequenceNode &other) {
    if (&other == within)
      found = &other;
    return !found;
  });
  return found;
}

template <typename Visit> void SequenceNode::visitWithin(Visit visit) {
  c10::SmallVector<SequenceNode *, 8> open = {this};
  while (!open.empty()) {
    const SequenceNode *node = open.pop_back_val();
    for (size_t i = node->sources.size(); i < node->num_outputs(); ++i) {
      const Edge &edge = node->next_edge(i);
      auto *other = castTo<SequenceNode>(edge.function.get());
      if (!other || !visit(*other))
        continue;
      if (other->ends == 1) {
        open.push_back(other);
      } else if (node != this) {
        // A path of edges to it gives it its place in the order of backward.
        ++other->skips;
        next_edges().push_back(edge);
      }
    }
  }
}

void SequenceNode::countEnd(bool hasReaders) {
  if (const PathPtr own = getPath(); own && hasReaders)
    own->noteReaders();
  // A backward that runs, and reads a value, has counted the edges of its
  // nodes.
  if (!torch::autograd::get_current_graph_task_exec_info())
    countWithin();
  findWithin();
  cover(getSteps());
}

void SequenceNode::countWithin() {
  std::vector<SequenceNode *> shared;
  visitWithin([&](SequenceNode &other) {
    if (other.counted.exchange(number) == number)
      return false;
    if (++other.ends == 2)
      shared.push_back(&other);
    return true;
  });
  for (SequenceNode *each : shared) {
    std::unordered_set<SequenceNode *> seen;
    each->visitWithin([&](SequenceNode &other) {
      return other.ends && seen.insert(&other).second;
    });
  }
}

void SequenceNode::cover(const StepPtr &steps) {
  visitSkipped(*this, [&](SequenceNode &other) {
    // The sequence is going to begin at what something else keeps.
    if (other.isCovered || other.findStart().defined())
      return;
    // The sequence may begin after the value.
    StepPtr step;
    if (steps && steps->isMoved && (step = findStep(steps, other.number)) &&
        !step->op)
      return;
    other.isCovered = true;
    if (!step && steps)
      step = findStep(steps, other.number);
    if (steps && other.isFinished && other.keepsOneOperator()) {
      other.runFrom(step);
      other.findWithin();
    }
    // Multiples of the result, too, would keep that beside the sources.
    for (const auto &each : shareAll(other.beginning.around))
      if (each->findResult() == &other && each->keepsOneOperator() &&
          each->input_metadata(0).dtype() == other.input_metadata(0).dtype())
        each->runFrom(step, /*leadToResult=*/true);
    other.cover(steps);
  });
}

bool SequenceNode::keepsOneOperator() const {
  std::lock_guard<std::mutex> lock(access);
  return !isReleased && (held.form == Derivative::Operator || hasBits());
}

at::Tensor SequenceNode::findStart() const {
  bool keepsOperator = held.form == Derivative::Operator;
  // Nothing is let go where the node keeps what its operator read.
  if (isReleased || (keepsOperator && held.saves == Saves::Input))
    return {};
  bool hasDerivative =
      isFinished || holdsNothing() || (keepsOperator && held.savesValue());
  return hasDerivative ? beginning.findSaved() : at::Tensor();
}

void SequenceNode::runFrom(const StepPtr &steps, bool leadToResult) {
  if (!steps)
    return;
  // Memory goes after the lock.
  NodePtr own;
  at::Tensor before[2];
  PathPtr other = std::make_shared<Path>(steps);
  std::lock_guard<std::mutex> lock(access);
  if (isReleased)
    return;
  own.swap(held.own);
  std::swap(before[0], held.tensor);
  std::swap(before[1], bits);
  path.swap(other);
  held.form = Derivative::Steps;
  held.leadsToResult = leadToResult;
}

bool SequenceNode::mayTakeOwnWhileLocked() const {
  return isFinished && !isReleased && held.saves == Saves::Result &&
         (hasBits() || held.form == Derivative::Steps);
}

bool SequenceNode::mayTakeOwn() const {
  std::lock_guard<std::mutex> lock(access);
  return mayTakeOwnWhileLocked();
}

void SequenceNode::takeOwn(const NodePtr &own) {
  // Memory goes after the lock.
  at::Tensor before;
  PathPtr pathBefore;
  std::lock_guard<std::mutex> lock(access);
  if (!mayTakeOwnWhileLocked() || beginning.isEscaped)
    return;
  std::swap(before, bits);
  path.swap(pathBefore);
  held.own = own;
  held.form = Derivative::Operator;
}

SequenceNode *SequenceNode::findResult() {
  if (!held.savesEarlier())
    return nullptr;
  SequenceNode *found = nullptr;
  // It comes before linear operators alone.
  visitAllSkipped(*this, [&](SequenceNode &other) {
    if (other.held.savesValue())
      found = &other;
    return !found && other.held.savesEarlier();
  });
  return found;
}

NodePtr SequenceNode::findOwnOfValue() const {
  // That of a value without a reader may go with it.
  const bool isKept = isFinished || beginning.findSaved().defined();
  std::lock_guard<std::mutex> lock(access);
  bool hasOwn = held.form == Derivative::Operator && held.savesValue();
  return isKept && hasOwn ? held.own : NodePtr();
}

void SequenceNode::shareOwn() {
  if (!held.savesEarlier())
    return;
  if (const Kept kept = findKept(); kept.form == Derivative::Operator)
    visitAllSkipped(*this, [&kept](SequenceNode &other) {
      other.takeOwn(kept.own);
      // The result comes after linear operators alone.
      return other.held.savesEarlier();
    });
  if (keepsOneOperator())
    findWithin();
}

void SequenceNode::findWithin() {
  static std::atomic<uint64_t> walks{0};
  const uint64_t own = ++walks;
  std::vector<SequenceNode *> found;
  c10::SmallVector<const SequenceNode *, 8> open = {this};
  while (!open.empty())
    visitSkipped(*open.pop_back_val(), [&](SequenceNode &other) {
      if (other.walk.exchange(own) == own)
        return;
      open.push_back(&other);
      // Something else than sequences has the value, or a reader may get it.
      if (other.number && (countOwners(&other) > other.skips ||
                           other.beginning.findSaved().defined()))
        found.push_back(&other);
    });
  std::vector<std::shared_ptr<Beginning>> foundCasts;
  if (const StepPtr steps = getSteps())
    for (const StepPtr &cast : findWidened(steps, sources))
      if (cast->beginning)
        foundCasts.push_back(cast->beginning);
  if (found.empty() && foundCasts.empty())
    return;
  leaveWithin();
  {
    std::lock_guard<std::mutex> lock(lockOfAll());
    for (SequenceNode *other : found)
      other->beginning.around.push_back(this);
    for (const auto &cast : foundCasts)
      cast->around.push_back(this);
    within = std::move(found);
    casts = std::move(foundCasts);
  }
  beginAtSaved();
}

void SequenceNode::leaveWithin() {
  if (within.empty() && casts.empty())
    return;
  std::vector<SequenceNode *> values;
  std::vector<std::shared_ptr<Beginning>> wide;
  std::lock_guard<std::mutex> lock(lockOfAll());
  values.swap(within);
  wide.swap(casts);
  auto leave = [this](Beginning &beginning) {
    auto &all = beginning.around;
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
  };
  for (SequenceNode *other : values)
    leave(other->beginning);
  for (const auto &cast : wide)
    leave(*cast);
}

void Beginning::save(const at::Tensor &value) {
  setLast(value);
  saveLast();
}

void Beginning::setLast(const at::Tensor &value) {
  auto found = std::make_shared<SavedValue>(value);
  std::lock_guard<std::mutex> lock(access);
  last = std::move(found);
}

void Beginning::saveLast() {
  {
    std::lock_guard<std::mutex> lock(access);
    saved = last;
  }
  for (const auto &node : shareAll(around))
    node->beginAtSaved();
}

at::Tensor Beginning::findSaved() const {
  if (isEscaped)
    return {};
  std::shared_ptr<const ComputedValue> found;
  {
    std::lock_guard<std::mutex> lock(access);
    found = saved;
  }
  return found ? found->findSaved() : at::Tensor();
}

void SequenceNode::beginAtSaved() {
  // The node of the operator that saves the result.
  if (held.savesEarlier() && mayTakeOwn())
    for (const auto &other : shareAll(within))
      if (NodePtr own = other->findOwnOfValue())
        takeOwn(own);
  const PathPtr own = getPath();
  if (!own)
    return;
  const StepPtr end = own->get();
  Starts starts;
  auto isOwn = [&](const Source &source) {
    return std::find(sources.begin(), sources.end(), source) != sources.end();
  };
  for (const auto &other : shareAll(within)) {
    at::Tensor value = other->findStart();
    // Its node leads to the same sources.
    if (!value.defined() ||
        !std::all_of(other->sources.begin(), other->sources.end(), isOwn))
      continue;
    if (StepPtr step = findStep(end, other->number); step && step->op)
      starts.emplace(step.get(), makeStart(*step, value, NodePtr(other)));
  }
  // The gradient of a cast goes where it went.
  for (const StepPtr &cast : findWidened(end, sources))
    if (cast->beginning)
      if (at::Tensor value = cast->beginning->findSaved(); value.defined())
        starts.emplace(cast.get(), makeStart(*cast, value, nullptr));
  if (starts.empty())
    return;
  if (!own->hasReaders())
    addUnread(end, starts);
  if (letsGo(end, starts))
    own->replace(end, beginAt(end, starts));
}

} // namespace fad::eager
