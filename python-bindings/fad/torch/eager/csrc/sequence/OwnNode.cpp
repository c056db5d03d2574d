//===- OwnNode.cpp - PyTorch's own node of an operator --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/OwnNode.h"
#include "sequence/Fork.h"
#include "sequence/SequenceNode.h"
#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_set>

namespace fad::eager {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;
using torch::autograd::variable_list;

namespace {
/// Stands for an operator's node in the graph of a second derivative.
struct StandIn : Node {
  /// `gradient` is one of the operator's result.
  StandIn(const NodePtr &own, const at::Tensor &gradient)
      : Node(edge_list(own->next_edges())), own(own) {
    add_input_metadata(gradient);
  }
  std::string name() const override { return own ? own->name() : "FadStandIn"; }
  void release_variables() override { own.reset(); }

protected:
  variable_list apply(variable_list &&gradients) override;

private:
  NodePtr own;
};

/// The locks of nodes. A child of the process has new ones, as an owner of one
/// may wait for another.
struct NodeLocks {
  std::array<std::mutex, 64> all;

  NodeLocks() {
    atFork(Rank::Others,
           {[] {}, [] {}, [this] { new (&all) decltype(all)(); }});
  }
};
} // namespace

/// The lock of a node, which sequences and threads share. While one of them
/// calls the node, its edges may be others.
static std::mutex &lockOf(const Node *own) {
  auto &all = OfProcess<NodeLocks>::get().all;
  return all[reinterpret_cast<uintptr_t>(own) / 64 % all.size()];
}

static bool hasGraph(const variable_list &results) {
  return std::any_of(
      results.begin(), results.end(),
      [](const at::Tensor &each) { return each.defined() && each.grad_fn(); });
}

/// Leads the edges to `own` elsewhere, in the graph of the results that it
/// computed from `gradient`. That graph ends at what the operator read, at the
/// gradient, and at the operator's result. Its nodes have just been made, and
/// nothing else refers to them yet.
static void redirect(const variable_list &results, const NodePtr &own,
                     const at::Tensor &gradient, const edge_list &operands,
                     const NodePtr &standIn) {
  std::unordered_set<Node *> seen = {own.get()};
  if (gradient.defined() && gradient.grad_fn())
    seen.insert(gradient.grad_fn().get());
  for (const Edge &edge : operands)
    seen.insert(edge.function.get());
  std::vector<Node *> open;
  auto visit = [&](const NodePtr &node) {
    if (node && seen.insert(node.get()).second)
      open.push_back(node.get());
  };
  for (const at::Tensor &result : results)
    if (result.defined())
      visit(result.grad_fn());
  while (!open.empty()) {
    Node *node = open.back();
    open.pop_back();
    for (Edge &edge : node->next_edges())
      if (edge.function == own)
        edge.function = standIn;
      else
        visit(edge.function);
  }
}

variable_list StandIn::apply(variable_list &&gradients) {
  TORCH_CHECK(own, torch::autograd::ERR_BACKWARD_TWICE);
  std::lock_guard<std::mutex> lock(lockOf(own.get()));
  at::Tensor gradient = gradients[0];
  variable_list results = (*own)(std::move(gradients));
  if (hasGraph(results))
    redirect(results, own, gradient, next_edges(), share<Node>(this));
  return results;
}

variable_list callOwnParts(const NodePtr &own, const at::Tensor &given,
                           const Edge &needed) {
  // The value that it is of may have another type than the operator's result.
  at::Tensor gradient =
      given.to(c10::typeMetaToScalarType(own->input_metadata(0).dtype()));
  std::lock_guard<std::mutex> lock(lockOf(own.get()));
  variable_list parts = callNode(*own, gradient, needed);
  // In forward, there is no graph of a derivative.
  if (hasGraph(parts))
    redirect(parts, own, gradient, own->next_edges(),
             makeNode<StandIn>(own, gradient));
  return parts;
}

at::Tensor callOwn(const NodePtr &own, const at::Tensor &gradient,
                   const Edge &needed) {
  variable_list parts = callOwnParts(own, gradient, needed);
  at::Tensor sum;
  for (at::Tensor &part : parts)
    if (part.defined())
      sum = sum.defined() ? sum + part : std::move(part);
  return sum;
}

at::Tensor deriveOperator(const at::Tensor &value, const Held &held,
                          const NodePtr &own) {
  at::Tensor derivative =
      callOwn(own, filled(held.factor * held.before, value));
  return held.offset == 0 || !derivative.defined() ? derivative
                                                   : derivative + held.offset;
}

} // namespace fad::eager
