//===- Results.cpp - Results that backward does not compute again ---------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Results.h"
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <torch/csrc/autograd/generated/Functions.h>

namespace fad::eager {

namespace impl = torch::autograd::impl;
using torch::autograd::edge_list;
using torch::autograd::variable_list;

namespace {
/// The derivative of an operator as a function of its result.
struct SlopeNode : torch::autograd::Node {
  SlopeNode(edge_list edges, Slope slope, at::Tensor result)
      : Node(std::move(edges)), slope(slope), result(std::move(result)) {}
  std::string name() const override { return "FadSlopeBackward"; }
  void release_variables() override { result.reset(); }

protected:
  variable_list apply(variable_list &&gradients) override {
    const at::Tensor &gradient = gradients[0];
    switch (slope) {
    case Slope::Tanh:
      return {at::tanh_backward(gradient, result)};
    case Slope::Sigmoid:
      return {at::sigmoid_backward(gradient, result)};
    default:
      return {gradient * result};
    }
  }

private:
  Slope slope;
  at::Tensor result;
};

/// That of a sum of operands, each times a number.
struct FactorsNode : torch::autograd::Node {
  FactorsNode(edge_list edges, const double *factors)
      : Node(std::move(edges)), factors{factors[0], factors[1]} {}
  std::string name() const override { return "FadFactorsBackward"; }

protected:
  variable_list apply(variable_list &&gradients) override {
    variable_list results;
    for (size_t i = 0; i < num_outputs(); ++i)
      results.push_back(factors[i] == 1 ? gradients[0]
                                        : gradients[0] * factors[i]);
    return results;
  }

private:
  double factors[2];
};
} // namespace

/// PyTorch's node of a power, which saves the operand and not the result.
static NodePtr makePowerNode(edge_list edges, const at::Tensor &operand,
                             const at::Scalar &exponent) {
  auto node =
      makeNode<torch::autograd::generated::PowBackward0>(std::move(edges));
  node->self_ = torch::autograd::SavedVariable(operand, /*is_output=*/false);
  node->exponent = exponent;
  return node;
}

template <typename Node>
static NodePtr makeOwn(torch::autograd::Edge operand,
                       const at::Tensor &result) {
  // A tensor that the node of a second derivative has saved leads to this one,
  // and backward runs and releases it there: it comes after those that call it.
  constexpr uint64_t last = 0;
  auto node = makeNode<Node>(last, edge_list{operand});
  // The tensor itself leads to what has this node. Backward finds a result that
  // leads to this one, for second derivatives.
  at::Tensor saved = aliasOf(result);
  impl::set_gradient_edge(saved, std::move(operand));
  node->result_ = torch::autograd::SavedVariable(saved, /*is_output=*/true);
  node->add_input_metadata(saved);
  return node;
}

torch::autograd::Edge leadToOperand(const Held &held,
                                    torch::autograd::Edge source,
                                    const at::Tensor &operand) {
  if (held.before == 1)
    return source;
  const double factors[2] = {held.before, 0};
  auto multiple = makeNode<FactorsNode>(edge_list{std::move(source)}, factors);
  auto input = multiple->add_input_metadata(operand);
  return {std::move(multiple), input};
}

NodePtr makeResultNode(const Held &held, torch::autograd::Edge source,
                       const at::Tensor &result) {
  using namespace torch::autograd::generated;
  OutsideHooks outside;
  source = leadToOperand(held, std::move(source), result);
#define FAD_RESULT_NODE(operator, type)                                        \
  if (std::string_view(held.name) == operator)                                 \
    return makeOwn<type>(std::move(source), result);
#include "sequence/Operators.inc"
  TORCH_INTERNAL_ASSERT(false);
}

void noteResult(const Call &call, Step &step, const at::Tensor &result) {
  step.isSum = call.use.saves == Saves::Nothing && !call.use.sums &&
               call.info.form != Form::Divide;
  step.isPower =
      !step.isSum && call.info.numbers == Numbers::Exponent && !call.use.rounds;
  step.type = call.use.type;
  if (step.isSum)
    std::copy(call.use.factors, call.use.factors + 2, step.factors);
  for (auto &[position, operand] : step.operands)
    step.hasResults |= operand->hasResults;
  if (call.info.slope == Slope::Unknown || call.mode.policy != Policy::Auto ||
      !result.is_cpu() ||
      call.decision.sources.bytes() >= static_cast<int64_t>(result.nbytes()))
    return;
  step.slope = call.info.slope;
  step.result.emplace(Step::Constant{aliasOf(result),
                                     static_cast<uint32_t>(result._version())});
  step.hasResults = true;
}

/// The result of a step as long as a node keeps it. Python does not have that
/// alias, nor its lock a part in this.
static at::Tensor findKept(const Step &step) {
  if (!step.isKept.load(std::memory_order_acquire))
    return {};
  auto there = step.kept->lock();
  return there ? at::Tensor(std::move(there)) : at::Tensor();
}

std::vector<at::Tensor> keepResults(const StepPtr &end, int64_t bytes) {
  std::vector<at::Tensor> found;
  if (!end || !end->hasResults)
    return found;
  std::vector<Step *> steps = order(end);
  size_t narrow = 0;
  for (const Step *step : steps)
    if (!step->op)
      narrow = std::max(narrow, step->value.tensor.itemsize());
  // Of the last ones, the most operators need not be run again.
  std::reverse(steps.begin(), steps.end());
  for (Step *step : steps) {
    at::Tensor result = findKept(*step);
    // Other threads may run a step whose result is kept.
    bool isNoted = !result.defined() && !step->isKept && step->result;
    if (isNoted)
      result = std::move(step->result->tensor);
    if (!result.defined())
      continue;
    auto own = static_cast<int64_t>(result.nbytes());
    if (result.itemsize() <= narrow || own > bytes) {
      if (isNoted)
        step->result.reset();
      continue;
    }
    if (isNoted) {
      step->kept.emplace(result.getIntrusivePtr());
      step->isKept.store(true, std::memory_order_release);
    }
    bytes -= own;
    found.push_back(std::move(result));
  }
  return found;
}

void addKeptResults(const StepPtr &end, Values &values) {
  if (!end->hasResults)
    return;
  for (Step *step : order(end)) {
    at::Tensor result = findKept(*step);
    if (!result.defined())
      continue;
    Step::Constant kept = *step->result;
    kept.tensor = result;
    if (!isModified(kept))
      values.emplace(step, std::move(result));
  }
}

Shortcuts::Shortcuts(const StepPtr &end, const Values &values) {
  addKeptResults(end, kept);
  if (kept.empty())
    return;
  Values known = values;
  std::vector<Step *> steps = order(end, &known, /*addsComputed=*/false);
  read[end.get()] = true;
  // Operands come before what reads them.
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (!kept.count(*step) && (read[*step] || !(*step)->isSum))
      for (auto &[position, operand] : (*step)->operands)
        read[operand.get()] = true;
}

at::Tensor Shortcuts::find(Step &step,
                           const torch::jit::Stack &arguments) const {
  auto own = kept.find(&step);
  bool isKept = own != kept.end();
  auto found = read.find(&step);
  bool isRead = found == read.end() || found->second;
  if (!isKept && (kept.empty() || isRead || !(step.isSum || step.isPower)))
    return {};
  edge_list edges;
  for (auto &[position, operand] : step.operands)
    edges.push_back(impl::gradient_edge(arguments[position].toTensor()));
  const at::Tensor &like = arguments[step.operands[0].first].toTensor();
  at::Tensor result;
  NodePtr node;
  if (isKept) {
    result = aliasOf(own->second);
    node = makeNode<SlopeNode>(std::move(edges), step.slope, own->second);
  } else {
    at::AutoDispatchBelowADInplaceOrView below;
    result =
        at::empty({1}, like.options().dtype(step.type)).expand(like.sizes());
    if (step.isPower)
      node = makePowerNode(std::move(edges), like, arguments[1].toScalar());
    else
      node = makeNode<FactorsNode>(std::move(edges), step.factors);
  }
  auto input = node->add_input_metadata(result);
  impl::set_gradient_edge(result, {std::move(node), input});
  return result;
}

} // namespace fad::eager
