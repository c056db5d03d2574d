//===- Replay.cpp - Running the operators of sequences again --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/ReadMemory.h"
#include "sequence/Results.h"
#include "sequence/Value.h"
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/ScopeExit.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

namespace fad::eager {

using torch::autograd::Edge;
using torch::autograd::Node;
namespace impl = torch::autograd::impl;

Originals::Originals(const StepPtr &end) {
  if (!end)
    return;
  for (const Step *step : order(end))
    for (const Step::Constant &constant : step->constants)
      if (constant.original)
        if (at::Tensor tensor = lock(*constant.original); tensor.defined())
          tensors.push_back(std::move(tensor));
}

at::Tensor Originals::find(const Step::Constant &constant) const {
  if (constant.original)
    for (const at::Tensor &tensor : tensors)
      if (tensor.unsafeGetTensorImpl() ==
          constant.original->_unsafe_get_target())
        return tensor;
  return {};
}

/// Replaces the aliases of an operator's constants by the original tensors, as
/// far as these still exist and have the same elements. Returns the originals
/// that require a gradient by now.
static std::vector<at::Tensor> putOriginals(const Originals &originals,
                                            const Step &step,
                                            torch::jit::Stack &arguments) {
  std::vector<at::Tensor> late;
  for (const Step::Constant &constant : step.constants) {
    at::Tensor original = originals.find(constant);
    if (!original.defined() || !original.has_storage() ||
        !constant.tensor.has_storage() || !isSame(original, constant.tensor))
      continue;
    for (c10::IValue &argument : arguments)
      if (argument.isTensor() && argument.toTensor().is_same(constant.tensor))
        argument = original;
    if (original.requires_grad())
      late.push_back(std::move(original));
  }
  return late;
}

/// Cuts the edges to operands of the node that a result has just got: nothing
/// else refers to that yet.
static void cut(const at::Tensor &result,
                const std::vector<at::Tensor> &operands) {
  for (const at::Tensor &operand : operands)
    for (Edge &edge : result.grad_fn()->next_edges())
      if (edge == impl::gradient_edge(operand))
        edge = Edge();
}

namespace {
/// Values of steps while they are run, by their places.
class Running {
public:
  explicit Running(const std::vector<Step *> &steps)
      : steps(steps), values(steps.size()), readers(steps.size()) {}

  at::Tensor &of(Step *step) { return values[find(step)]; }
  void addReader(Step *step) { ++readers[find(step)]; }
  /// The value for a reader; the last one releases it.
  at::Tensor take(Step *step) {
    size_t place = find(step);
    return --readers[place] ? values[place] : std::move(values[place]);
  }

private:
  /// Steps are in the order of their numbers, which a copy shares.
  size_t find(Step *step) const {
    auto found = std::lower_bound(
        steps.begin(), steps.end(), step,
        [](Step *a, Step *b) { return a->number < b->number; });
    return std::find(found, steps.end(), step) - steps.begin();
  }

  const std::vector<Step *> &steps;
  std::vector<at::Tensor> values;
  std::vector<uint32_t> readers;
};
} // namespace

/// Runs the steps; `lead` returns what stands for a source, `visit` sees each
/// result. `known` has those of some steps, from which it goes on. A value is
/// released where the last step has read it.
template <typename Lead, typename Visit>
static at::Tensor run(const StepPtr &end, Lead lead, Visit visit,
                      bool usesComputed = false,
                      const Originals &originals = {}, Values known = {},
                      const Shortcuts *shortcuts = nullptr) {
  PlainGuard guard;
  OutsideHooks outside;
  // A sequence reads no tensor of a transform of torch.func that backward is
  // called in. Inside of one, its value would have another graph.
  OutsideTransforms outsideTransforms;
  std::vector<Step *> steps = order(end, &known, usesComputed);
  auto isKnown = [&](Step *step) {
    return !known.empty() && known.count(step);
  };
  std::vector<c10::Storage> memory;
  Running values(steps);
  for (Step *step : steps)
    if (!isKnown(step))
      for (auto &[position, operand] : step->operands)
        values.addReader(operand.get());
  for (Step *step : steps) {
    at::Tensor &value = values.of(step);
    if (isKnown(step)) {
      value = std::move(known[step]);
      continue;
    }
    if (!step->op) {
      memory.push_back(getMemory(step->value));
      value = lead(*step);
      continue;
    }
    for (const Step::Constant &constant : step->constants) {
      memory.push_back(getMemory(constant));
      checkVersion(constant);
    }
    torch::jit::Stack stack(step->arguments.begin(), step->arguments.end());
    for (auto &[position, operand] : step->operands)
      stack[position] = values.take(operand.get());
    if (shortcuts)
      value = shortcuts->find(*step, stack);
    if (!value.defined()) {
      std::vector<at::Tensor> late = putOriginals(originals, *step, stack);
      step->op->callBoxed(stack);
      value = std::move(stack.front()).toTensor();
      cut(value, late);
    }
    visit(value);
  }
  return values.of(end.get());
}

/// Results of a node for a gradient, before autograd has looked at them.
static std::vector<at::Tensor> callOnly(Node &node, const at::Tensor &gradient,
                                        const Edge &needed) {
  const auto *tasks = torch::autograd::get_current_graph_task_exec_info();
  auto isRun = [&](const Edge &edge) {
    auto found = tasks->find(edge.function.get());
    return !edge.is_valid() ||
           (found != tasks->end() && found->second.should_execute());
  };
  // A node of several results takes no gradient of the others.
  variable_list gradients(node.num_inputs());
  gradients[0] = gradient;
  // Other threads may run a node of the graph, whose edges stay as they are.
  const torch::autograd::edge_list &own = node.next_edges();
  if (!tasks || tasks->empty() || std::all_of(own.begin(), own.end(), isRun))
    return node(std::move(gradients));
  if (!needed.is_valid())
    return std::vector<at::Tensor>(node.num_outputs());
  // A node asks its edges what backward needs, and finds that in the task that
  // the thread runs. With PyTorch's `GraphTaskGuard`, which libtorch does not
  // export, the node could be called as in a task that needs everything. Until
  // it does, the edges lead to what is needed, and back also after an error. No
  // other thread runs the node meanwhile: it is a replay's, which one thread
  // has, or an operator's own, which has a lock (OwnNode.cpp) and, in the graph
  // of a program, edges that are all run.
  torch::autograd::edge_list edges = node.next_edges();
  auto restore =
      c10::make_scope_exit([&] { node.next_edges() = std::move(edges); });
  for (Edge &edge : node.next_edges())
    if (edge.is_valid())
      edge = needed;
  return node(std::move(gradients));
}

std::vector<at::Tensor> callNode(Node &node, const at::Tensor &gradient,
                                 const Edge &needed) {
  std::vector<at::Tensor> partial = callOnly(node, gradient, needed);
  // As autograd does between nodes: gradients are rounded and summed.
  torch::autograd::validate_outputs(
      node.next_edges(), partial, [&](const std::string &message) {
        return "fad.torch.nest: " + node.name() + ": " + message;
      });
  return partial;
}

at::Tensor compute(const StepPtr &end, Values known) {
  at::AutoGradMode off(false);
  if (end->kernels && known.empty())
    if (at::Tensor value = end->kernels->compute(end); value.defined())
      return value;
  auto lead = [](Step &step) {
    TORCH_INTERNAL_ASSERT(!step.isUnread);
    checkVersion(step.value);
    return step.value.tensor;
  };
  addKeptResults(end, known);
  return run(
      end, lead, [](const at::Tensor &) {}, /*usesComputed=*/true, {},
      std::move(known));
}

bool isSame(const at::Tensor &a, const at::Tensor &b) {
  return a.storage().is_alias_of(b.storage()) && a.sizes().equals(b.sizes()) &&
         a.strides().equals(b.strides()) &&
         a.storage_offset() == b.storage_offset();
}

const Replay::Leaf &Replay::addLeaf(at::Tensor leaf, const Source &source,
                                    c10::ArrayRef<Source> sources,
                                    c10::ArrayRef<Edge> edges) {
  auto found = std::find(sources.begin(), sources.end(), source);
  if (edges.empty() || found == sources.end()) {
    leaf.set_requires_grad(true);
  } else {
    // Hooks of the source see its gradient once, so another node stands before
    // it. The gradient of an alias is the gradient itself; of a view, a view.
    impl::set_gradient_edge(leaf, edges[found - sources.begin()]);
    leaf = leaf.alias();
  }
  leaves.push_back({source, leaf, impl::gradient_edge(leaf)});
  return leaves.back();
}

void Replay::addWidened(const StepPtr &end, c10::ArrayRef<Source> sources,
                        c10::ArrayRef<Edge> edges, Values &values) {
  for (const StepPtr &step : findWidened(end, sources, values))
    values.emplace(
        step.get(),
        addLeaf(aliasOf(compute(step)), step->source, sources, edges).tensor);
}

at::Tensor Replay::lead(Step &step, c10::ArrayRef<Source> sources,
                        c10::ArrayRef<Edge> edges) {
  checkVersion(step.value);
  for (const Leaf &leaf : leaves)
    if (leaf.source == step.source && isSame(leaf.tensor, step.value.tensor))
      return leaf.tensor;
  return addLeaf(aliasOf(step.value.tensor), step.source, sources, edges)
      .tensor;
}

Replay::Replay(const StepPtr &end, c10::ArrayRef<Source> sources,
               c10::ArrayRef<Edge> edges, const Originals &originals,
               const std::vector<Cut> &cuts) {
  // Backward may be called where tensors have no nodes.
  c10::InferenceMode normal(false);
  at::AutoGradMode on(true);
  auto lead = [&](Step &step) { return this->lead(step, sources, edges); };
  auto visit = [&](const at::Tensor &value) {
    nodes.push_back(value.grad_fn());
  };
  Values values;
  for (const Cut &cut : cuts)
    values.emplace(cut.step.get(),
                   addLeaf(aliasOf(cut.value), sourceOf(cut.edge),
                           sourceOf(cut.edge), cut.edge)
                       .tensor);
  addWidened(end, sources, edges, values);
  result = run(end, lead, visit, /*usesComputed=*/false, originals,
               std::move(values));
}

Replay::Replay(const StepPtr &end, c10::ArrayRef<Source> sources,
               const std::vector<Cut> &cuts)
    : hasCuts(!cuts.empty()) {
  c10::InferenceMode normal(false);
  at::AutoGradMode on(true);
  Values values;
  for (const Cut &cut : cuts) {
    at::Tensor leaf = cut.value.detach().set_requires_grad(true);
    leaves.push_back({sourceOf(cut.edge), leaf, impl::gradient_edge(leaf)});
    values.emplace(cut.step.get(), std::move(leaf));
  }
  addWidened(end, sources, {}, values);
  auto lead = [&](Step &step) { return this->lead(step, {}, {}); };
  auto visit = [&](const at::Tensor &value) {
    nodes.push_back(value.grad_fn());
  };
  Shortcuts shortcuts(end, values);
  result = run(end, lead, visit, /*usesComputed=*/false, {}, std::move(values),
               &shortcuts);
}

Replay::Replay(const StepPtr &end, const at::Tensor &numbers) {
  c10::InferenceMode normal(false);
  at::AutoGradMode on(true);
  auto lead = [&](Step &step) {
    if (leaves.empty()) {
      at::Tensor leaf = numbers.detach().set_requires_grad(true);
      leaves.push_back({step.source, leaf, impl::gradient_edge(leaf)});
    }
    return leaves.front().tensor;
  };
  result = run(end, lead, [&](const at::Tensor &value) {
    nodes.push_back(value.grad_fn());
  });
}

std::vector<at::Tensor> Replay::pullWithGraph(const at::Tensor &gradient,
                                              c10::ArrayRef<Source> sources) {
  torch::autograd::edge_list outputs;
  for (const Leaf &leaf : leaves)
    outputs.push_back(leaf.edge);
  std::vector<at::Tensor> found =
      torch::autograd::Engine::get_default_engine().execute(
          {impl::gradient_edge(result)}, {gradient}, /*keep_graph=*/true,
          /*create_graph=*/true,
          /*accumulate_grad=*/false, outputs);
  return collect(found, sources);
}

std::vector<at::Tensor> Replay::pull(const at::Tensor &gradient,
                                     c10::ArrayRef<Source> sources,
                                     const Edge &needed) {
  at::AutoGradMode off(false);
  PlainGuard guard;
  std::unordered_map<Node *, at::Tensor> gradients;
  gradients[nodes.back().get()] = gradient;
  result.reset();
  while (!nodes.empty()) {
    auto node = std::move(nodes.back());
    nodes.pop_back();
    auto found = gradients.find(node.get());
    if (found == gradients.end())
      continue;
    std::vector<at::Tensor> partial = callNode(*node, found->second, needed);
    gradients.erase(found);
    for (size_t i = 0; i < partial.size(); ++i) {
      if (!partial[i].defined())
        continue;
      at::Tensor &sum = gradients[node->next_edge(i).function.get()];
      sum = sum.defined() ? sum + partial[i] : partial[i];
    }
    node->release_variables();
  }
  std::vector<at::Tensor> found;
  for (const Leaf &leaf : leaves)
    found.push_back(gradients[leaf.edge.function.get()]);
  return collect(found, sources);
}

std::vector<at::Tensor> Replay::collect(const std::vector<at::Tensor> &found,
                                        c10::ArrayRef<Source> sources) const {
  std::vector<at::Tensor> all(sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    for (size_t k = 0; k < leaves.size(); ++k)
      if (leaves[k].source == sources[i] && found[k].defined())
        all[i] = all[i].defined() ? all[i] + found[k] : found[k];
  return all;
}

} // namespace fad::eager
