//===- Levels.cpp - The levels of a sequence's derivative -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/FewBits.h"
#include "sequence/Value.h"
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones_like.h>
#include <ATen/core/grad_mode.h>
#include <sstream>
#include <torch/csrc/autograd/graph_task.h>

namespace fad::eager {

/// What is placed in this thread.
static thread_local const StepPtr *placed = nullptr;
static thread_local Source placedSource;

static void describe(std::ostream &out, const c10::IValue &argument) {
  if (argument.isScalar())
    out << argument.toScalar().toDouble();
  else if (argument.isTensor() && argument.toTensor().defined())
    out << argument.toTensor().item().toDouble();
  else
    out << argument;
}

/// The operators and numbers of a sequence of one source; empty for others.
static std::string describe(const StepPtr &end, Source source) {
  std::ostringstream out;
  out << std::hexfloat;
  std::unordered_map<const Step *, size_t> numbers;
  const Step *lead = nullptr;
  for (const Step *step : order(end)) {
    if (!step->op) {
      if (step->source != source || (lead && !isSame(lead->value.tensor, step->value.tensor)))
        return {};
      lead = step;
      numbers[step] = 0;
      continue;
    }
    if (!step->constants.empty())
      return {};
    out << step->op->operator_name() << '(';
    for (size_t i = 0; i < step->arguments.size(); ++i) {
      auto operand = std::find_if(step->operands.begin(), step->operands.end(),
                                  [&](const auto &each) { return each.first == i; });
      if (operand != step->operands.end())
        out << '%' << numbers.at(operand->second.get());
      else
        describe(out, step->arguments[i]);
      out << ", ";
    }
    out << ')';
    size_t number = numbers.size();
    numbers[step] = number + 1;
  }
  return out.str();
}

bool evaluateDerivative(const double *arguments, int64_t count, double *derivatives) {
  if (!placed)
    return false;
  try {
    at::Tensor at = at::from_blob(const_cast<double *>(arguments), {count}, at::kDouble);
    Replay replay(*placed, at);
    at::Tensor found =
        replay.pull(at::ones_like(at), placedSource, torch::autograd::Edge())[0];
    if (!found.defined() || found.scalar_type() != at::kDouble)
      return false;
    found = found.contiguous();
    std::copy_n(found.const_data_ptr<double>(), count, derivatives);
    return true;
  } catch (const c10::Error &) {
    return false;
  }
}

static LevelsPtr place(const StepPtr &end, Source source, int bits) {
  double found[256];
  placed = &end;
  placedSource = source;
  int count = placeLevels(bits, found);
  placed = nullptr;
  if (count < 2)
    return {};
  auto levels = std::make_shared<Levels>();
  levels->bits = bits;
  levels->levels.assign(found, found + count);
  for (int i = 1; i < count; ++i)
    levels->boundaries.push_back((found[i - 1] + found[i]) / 2);
  return levels;
}

LevelsPtr findLevels(const StepPtr &end, Source source, int bits) {
  static std::mutex mutex;
  static std::unordered_map<std::string, LevelsPtr> known;
  if (!end || !placeLevels || placed)
    return {};
  std::string name = describe(end, source);
  if (name.empty())
    return {};
  name += static_cast<char>('0' + bits);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = known.find(name); found != known.end())
      return found->second;
  }
  // Without the lock, as this runs Python.
  LevelsPtr levels = place(end, source, bits);
  std::lock_guard<std::mutex> lock(mutex);
  return known.emplace(std::move(name), std::move(levels)).first->second;
}

LevelsPtr levelsOf(const at::Tensor &tensor, const Value &value) {
  if (!value.bits || value.sources.size() != 1 || !tensor.device().is_cpu() ||
      torch::autograd::get_current_graph_task_exec_info())
    return {};
  return findLevels(value.steps(), value.sources.front(), value.bits);
}

} // namespace fad::eager
