//===- Holdings.cpp - Tensors that sequences hold for backward ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Holdings.h"
#include "sequence/SequenceNode.h"
#include <ATen/ops/empty.h>

namespace fad::eager {

namespace impl = torch::autograd::impl;

thread_local Peek peek;

void Holdings::add(const char *name, const at::Tensor &tensor) {
  if (!tensor.defined())
    return;
  names.emplace_back(name);
  tensors.push_back(tensor);
}

void Holdings::add(const StepPtr &end) {
  if (!end)
    return;
  for (Step *step : order(end)) {
    if (!step->op && !step->isUnread)
      add("source", step->value.tensor);
    for (const Step::Constant &constant : step->constants)
      add("constant", constant.tensor);
  }
}

Holdings holdingsOf(torch::autograd::Node &node) {
  Holdings holdings;
  auto *sequence = castTo<SequenceNode>(&node);
  if (!sequence)
    return holdings;
  holdings.add(sequence->getSteps());
  for (const at::Tensor &result : sequence->results)
    holdings.add("result", result);
  holdings.add("derivative", sequence->held.tensor);
  holdings.add("bits", sequence->bits);
  if (const NodePtr &own = sequence->held.own) {
    at::Tensor holder = at::empty({0});
    impl::set_gradient_edge(holder, {own, 0});
    holdings.add("own", holder);
  }
  return holdings;
}

} // namespace fad::eager
