//===- SequenceNode.cpp - The node of a sequence in the graph -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/SequenceNode.h"
#include "sequence/Bits.h"
#include "sequence/OwnNode.h"
#include <ATen/ATen.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/graph_task.h>
#include <unordered_set>

namespace fad::eager {

using torch::autograd::Edge;
using torch::autograd::variable_list;
namespace impl = torch::autograd::impl;

std::atomic<int64_t> SequenceNode::live{0};

SequenceNode::SequenceNode() { ++live; }

SequenceNode::~SequenceNode() {
  finish();
  --live;
}

void SequenceNode::addSource(Edge edge) {
  sources.push_back(sourceOf(edge));
  add_next_edge(std::move(edge));
}

void SequenceNode::skip(Edge edge) {
  if (auto *other = castTo<SequenceNode>(edge.function.get()))
    ++other->skips;
  add_next_edge(std::move(edge));
}

void SequenceNode::skipCastsOf(const Node *operand) {
  const auto *other = castTo<const SequenceNode>(operand);
  if (!other)
    return;
  for (size_t i = other->sources.size(); i < other->num_outputs(); ++i) {
    const Edge &edge = other->next_edge(i);
    auto *cast = castTo<SequenceNode>(edge.function.get());
    if (!cast || !cast->isWide)
      continue;
    const auto &own = next_edges();
    if (std::find(own.begin(), own.end(), edge) == own.end())
      skip(edge);
  }
}

void SequenceNode::leadTo(Edge edge) {
  drop();
  isReleased = false;
  isLeading = isFinished = true;
  held.form = Derivative::Number;
  held.factor = 1;
  // Others may have edges to this node, which keeps its place among theirs: the
  // operators' nodes lead where it did.
  sources = {sourceOf(edge)};
  next_edges()[0] = std::move(edge);
}

void SequenceNode::replace(const Node &own, const at::Tensor &tensor) {
  // To describe the tensor anew takes as long as several calls.
  input_metadata_.emplace_back(own.input_metadata(tensor.output_nr()));
  impl::set_gradient_edge(tensor, {getptr(), 0});
}

void SequenceNode::finish() {
  for (size_t i = sources.size(); !isEnded && i < num_outputs(); ++i)
    if (auto *other = castTo<SequenceNode>(next_edge(i).function.get()))
      --other->skips;
  isEnded = true;
  leaveWithin();
  sources.clear();
  release();
}

bool SequenceNode::holdsNothing() const {
  return held.form == Derivative::Number && !bits.defined();
}

int64_t bytesOf(const torch::autograd::Node &node) {
  const torch::autograd::InputMetadata &metadata = node.input_metadata(0);
  return c10::multiply_integers(metadata.shape_as_dim_vector()).expect_int() *
         static_cast<int64_t>(metadata.dtype().itemsize());
}

void SequenceNode::drop() {
  if (isTraced()) {
    if (held.form == Derivative::Tensor && held.tensor.defined() &&
        held.tensor.use_count() == 1)
      trace.release({"derivative of " + held.label(),
                     static_cast<int64_t>(held.tensor.nbytes())});
    if (held.form == Derivative::Operator && held.own &&
        held.own.use_count() == 1)
      trace.release({"what " + held.label() + " saved", bytesOf(*this)});
  }
  handle.reset();
  results.clear();
  // Memory goes after the lock.
  NodePtr own;
  at::Tensor before[2];
  PathPtr steps;
  std::lock_guard<std::mutex> lock(access);
  isReleased = !holdsNothing();
  own.swap(held.own);
  std::swap(before[0], held.tensor);
  std::swap(before[1], bits);
  path.swap(steps);
}

void SequenceNode::release() {
  drop();
  // Memory goes after the lock.
  StepPtr before;
  std::lock_guard<std::mutex> lock(access);
  before = std::move(given);
}

PathPtr SequenceNode::getPath() const {
  std::lock_guard<std::mutex> lock(access);
  return path;
}

StepPtr SequenceNode::getSteps() const {
  PathPtr own = getPath();
  return own ? own->get() : StepPtr();
}

void SequenceNode::setSteps(StepPtr steps) {
  PathPtr other = steps ? std::make_shared<Path>(std::move(steps)) : PathPtr();
  std::lock_guard<std::mutex> lock(access);
  path.swap(other);
}

at::Tensor filled(double number, const at::Tensor &like) {
  auto make = [&] {
    return at::scalar_tensor(number, like.options().requires_grad(false))
        .expand(like.sizes());
  };
  if (number != 1 || c10::InferenceMode::is_enabled())
    return make();
  // Most are ones, in the shape of those before. They take one element.
  static thread_local at::Tensor ones;
  if (!ones.defined() || ones.scalar_type() != like.scalar_type() ||
      ones.device() != like.device() || !ones.sizes().equals(like.sizes()))
    ones = make();
  return ones;
}

void SequenceNode::checkSkipped(torch::autograd::Node &node, bool isAskedFor) {
  TORCH_CHECK(
      !isAskedFor && !hasHooks(node),
      "fad.torch.nest: the gradient of a value inside of a nested sequence (",
      node.name(),
      ") is asked for, by a hook, retain_grad, or inputs= of backward "
      "or its gradient edge, "
      "after an operator has used the value. Register the hook or call "
      "retain_grad "
      "before the value is used, or compute it outside of nest().");
}

/// Whether the gradient of a node's result is asked for by name in a backward.
static bool isCaptured(torch::autograd::Node &node) {
  const auto *tasks = torch::autograd::get_current_graph_task_exec_info();
  if (!tasks)
    return false;
  auto found = tasks->find(&node);
  return found != tasks->end() && found->second.captures_;
}

namespace {
/// The derivative of a derivative that is constant wherever it has one.
struct Zero : torch::autograd::Node {
  using Node::Node;
  std::string name() const override { return "FadZeroBackward"; }
  variable_list apply(variable_list &&gradients) override {
    if (!gradients[0].defined())
      return {at::Tensor()};
    return {at::zeros_like(gradients[0])};
  }
};
} // namespace

/// The product with a derivative, whose own derivative is zero or an error.
at::Tensor SequenceNode::multiply(const at::Tensor &gradient,
                                  at::Tensor derivative) {
  if (at::GradMode::is_enabled()) {
    derivative = derivative.detach();
    torch::autograd::edge_list edges = {next_edge(0)};
    // The second derivative of eager PyTorch leads to these, too.
    if (held.constants)
      for (const auto &constant : *held.constants)
        if (at::Tensor tensor = lock(constant);
            tensor.defined() && tensor.requires_grad())
          edges.push_back(impl::gradient_edge(tensor));
    NodePtr node;
    if (held.isPiecewise)
      node = makeNode<Zero>(std::move(edges));
    else
      node = makeNode<torch::autograd::Error>(
          "fad.torch.nest(policy=\"fad\"), and fad.torch.nest with "
          "derivative_bits, keeps "
          "derivatives, and not what they were computed from: there is no "
          "second derivative. "
          "Use fad.torch.nest(), whose policy \"auto\" has one, or leave "
          "nest() where "
          "create_graph=True is used.",
          std::move(edges));
    auto input = node->add_input_metadata(derivative);
    impl::set_gradient_edge(derivative, {std::move(node), input});
  }
  return gradient * derivative;
}

/// An edge to a source whose gradient is asked for, or null.
const Edge *SequenceNode::findNeeded() const {
  for (size_t i = 0; i < sources.size(); ++i)
    if (task_should_compute_output(i))
      return &next_edge(i);
  return nullptr;
}

bool runsLater(torch::autograd::Node *node) {
  const auto *tasks = torch::autograd::get_current_graph_task_exec_info();
  if (!node || !tasks || at::GradMode::is_enabled())
    return false;
  if (tasks->empty())
    return true;
  auto found = tasks->find(node);
  return found != tasks->end() && found->second.should_execute();
}

bool SequenceNode::isShared() const {
  // A number takes no operator, and few bits are of another derivative.
  if (!number || held.form == Derivative::Number || bits.defined())
    return false;
  return ends > 1 || !isReleased;
}

at::Tensor SequenceNode::shareValue(const StepPtr &steps) {
  {
    std::lock_guard<std::mutex> lock(access);
    given = steps;
  }
  std::lock_guard<std::mutex> lock(steps->mutex);
  if (!steps->shared)
    steps->shared = replay(steps);
  return steps->shared->value();
}

std::unique_ptr<Replay> SequenceNode::replay(const StepPtr &end) {
  std::vector<Cut> cuts;
  for (size_t i = sources.size(); i < num_outputs(); ++i) {
    const Edge &edge = next_edge(i);
    auto *other = castTo<SequenceNode>(edge.function.get());
    if (!other || !other->isShared() || !runsLater(other))
      continue;
    StepPtr step = findStep(end, other->number);
    bool isNew = step && step != end && step->op &&
                 std::none_of(cuts.begin(), cuts.end(),
                              [&](const Cut &cut) { return cut.step == step; });
    if (isNew)
      cuts.push_back({step, other->shareValue(step), edge});
  }
  PlainGuard guard;
  return std::make_unique<Replay>(end, sources, cuts);
}

SequenceNode::Kept SequenceNode::findKept() const {
  std::lock_guard<std::mutex> lock(access);
  return {path ? path->get() : given,
          held.form,
          held.own,
          held.tensor,
          bits,
          isReleased,
          path && held.leadsToResult};
}

/// Where gradients go, in the order of the edges, and each once.
std::vector<Source> SequenceNode::findPlaces(bool sharesValues) const {
  std::vector<Source> places(sources.begin(), sources.end());
  for (size_t i = sources.size(); i < num_outputs() && sharesValues; ++i) {
    Source place = sourceOf(next_edge(i));
    bool isNew = std::find(places.begin(), places.end(), place) == places.end();
    places.push_back(isNew ? place : Source());
  }
  return places;
}

variable_list SequenceNode::pullSteps(std::unique_ptr<Replay> replay,
                                      const StepPtr &steps,
                                      const at::Tensor &gradient,
                                      const Edge &needed, bool sharesValues) {
  // The steps may have come to begin at values of other nodes.
  std::vector<Source> begins(sources.begin(), sources.end());
  torch::autograd::edge_list edges(next_edges().begin(),
                                   next_edges().begin() +
                                       static_cast<ptrdiff_t>(sources.size()));
  for (const StepPtr &start : findStarts(steps)) {
    // The value may be a source, too.
    if (std::find(begins.begin(), begins.end(), start->source) != begins.end())
      continue;
    begins.push_back(start->source);
    edges.emplace_back(start->start, start->source.input);
  }
  const size_t most = sharesValues ? num_outputs() : sources.size();
  if (at::GradMode::is_enabled())
    return passOn(begins, edges, most,
                  Replay(steps, begins, edges, Originals(steps))
                      .pullWithGraph(gradient, begins));
  if (replay && replay->isCut() && !sharesValues)
    replay.reset();
  if (!replay && steps->kernels)
    if (variable_list pulled = steps->kernels->pull(steps, gradient, begins);
        !pulled.empty())
      return passOn(begins, edges, most, std::move(pulled));
  if (!replay)
    replay = sharesValues ? this->replay(steps)
                          : std::make_unique<Replay>(steps, sources);
  std::vector<Source> places = findPlaces(sharesValues);
  for (const Source &begin : begins)
    if (std::find(places.begin(), places.end(), begin) == places.end())
      places.push_back(begin);
  return passOn(places, edges, most, replay->pull(gradient, places, needed));
}

variable_list SequenceNode::passOn(const std::vector<Source> &places,
                                   const torch::autograd::edge_list &begins,
                                   size_t most,
                                   variable_list &&gradients) const {
  variable_list result(most);
  auto add = [&](const Source &place, at::Tensor &&gradient) {
    for (size_t i = 0; i < most; ++i)
      if (sourceOf(next_edge(i)) == place) {
        at::Tensor &sum = result[i];
        sum = sum.defined() ? sum + gradient : std::move(gradient);
        return true;
      }
    return false;
  };
  for (size_t k = 0; k < places.size(); ++k) {
    if (!gradients[k].defined() || add(places[k], std::move(gradients[k])))
      continue;
    // No edge leads to the node, which comes later in backward.
    for (const Edge &begin : begins)
      if (sourceOf(begin) == places[k]) {
        auto &node = static_cast<SequenceNode &>(*begin.function);
        variable_list passed = node.pull({std::move(gradients[k])});
        for (size_t i = 0; i < passed.size(); ++i)
          if (passed[i].defined())
            add(node.sources[i], std::move(passed[i]));
        break;
      }
  }
  return result;
}

variable_list SequenceNode::pullOwn(const NodePtr &own,
                                    const at::Tensor &gradient,
                                    const Edge &needed) {
  variable_list parts = callOwnParts(own, gradient, needed);
  variable_list result(sources.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    auto found =
        std::find(sources.begin(), sources.end(), sourceOf(own->next_edge(i)));
    if (!parts[i].defined() || found == sources.end())
      continue;
    at::Tensor &sum = result[found - sources.begin()];
    sum = sum.defined() ? sum + parts[i] : std::move(parts[i]);
  }
  return result;
}

variable_list SequenceNode::apply(variable_list &&gradients) {
  for (size_t i = sources.size(); i < num_outputs(); ++i)
    checkSkipped(*next_edge(i).function, isCaptured(*next_edge(i).function));
  variable_list result = pull(std::move(gradients), /*sharesValues=*/true);
  result.resize(num_outputs());
  return result;
}

/// The type of a source's gradient.
static at::ScalarType typeOf(const Edge &source) {
  return c10::typeMetaToScalarType(
      source.function->input_metadata(source.input_nr).dtype());
}

/// A gradient in the type of that of a source, if that is wider.
static at::Tensor widen(const at::Tensor &gradient, const Edge &source) {
  at::ScalarType type = typeOf(source);
  return c10::elementSize(type) > gradient.element_size() ? gradient.to(type)
                                                          : gradient;
}

variable_list SequenceNode::pull(variable_list &&gradients, bool sharesValues) {
  const Kept kept = findKept();
  const StepPtr &steps = kept.steps;
  std::unique_ptr<Replay> replay;
  if (steps) {
    std::lock_guard<std::mutex> lock(steps->mutex);
    replay = std::move(steps->shared);
  }
  variable_list result(sources.size());
  const at::Tensor &gradient = gradients[0];
  const Edge *needed = findNeeded();
  if (!gradient.defined() || !needed)
    return result;
  bool runsAgain = steps && (kept.isReleased || kept.form == Derivative::Steps);
  TORCH_CHECK(!kept.isReleased || runsAgain,
              torch::autograd::ERR_BACKWARD_TWICE);
  // PyTorch's node may have saved its result, and the second gradient would go
  // through the hooks of that; here it goes past the value, and where this node
  // leads to PyTorch's as well.
  bool keepsNothing = holdsNothing() && !isLeading;
  TORCH_CHECK(
      !at::GradMode::is_enabled() || keepsNothing || !hasHooks(*this),
      "fad.torch.nest: a value at the end of a nested sequence has a hook, or "
      "retain_grad, and its second derivative is asked for. Compute the value "
      "outside of nest() where create_graph=True is used.");
  PlainGuard guard;
  auto times = [](const at::Tensor &tensor, double number) {
    return number == 1 ? tensor : tensor * number;
  };
  // The only source, whose elements are not read. The rest of its gradient may
  // go through the node of a value at which the steps begin.
  auto addOffset = [&](at::Tensor &sum) {
    if (held.offset == 0)
      return;
    sum = sum.defined() ? sum.add(gradient.to(sum.scalar_type()), held.offset)
                        : times(gradient.to(typeOf(*needed)), held.offset);
  };
  if (runsAgain) {
    const bool leads = kept.leadsToResult;
    result = pullSteps(std::move(replay), steps,
                       leads ? times(gradient, held.factor) : gradient, *needed,
                       sharesValues);
    if (leads)
      addOffset(result[0]);
    return result;
  }
  // Its operator's own node has the derivative.
  replay.reset();
  if (kept.bits.defined()) {
    if (at::GradMode::is_enabled())
      result[0] =
          multiply(gradient, levels ? unpackLevels(kept.bits, *levels, gradient)
                                    : unpackBits(kept.bits, values, gradient));
    else
      result[0] = levels ? multiplyLevels(gradient, kept.bits, *levels)
                         : multiplyBits(gradient, kept.bits, values);
    return result;
  }
  switch (kept.form) {
  case Derivative::Number:
    result[0] = times(gradient, held.factor);
    break;
  case Derivative::Operator:
    // A number follows operators of one source.
    if (sources.size() > 1)
      return pullOwn(kept.own, gradient, *needed);
    result[0] = times(callOwn(kept.own, times(gradient, held.factor), *needed),
                      held.before);
    addOffset(result[0]);
    break;
  case Derivative::Tensor:
    result[0] =
        times(multiply(widen(gradient, *needed), kept.tensor), held.factor);
    break;
  case Derivative::Steps:
    TORCH_INTERNAL_ASSERT(false);
  }
  return result;
}

} // namespace fad::eager
