//===- Levels.cpp - The levels of a sequence's derivative -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/FewBits.h"
#include "sequence/Fork.h"
#include "sequence/Keys.h"
#include "sequence/Operators.h"
#include "sequence/Text.h"
#include "sequence/Value.h"
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like.h>
#include <c10/util/ScopeExit.h>
#include <cmath>
#include <optional>
#include <sstream>
#include <torch/csrc/autograd/graph_task.h>

namespace fad::eager {

/// Values placed in this thread.
static thread_local const StepPtr *placed = nullptr;
static thread_local Source placedSource;

/// Factors of the derivative after the operators that `end` is set
/// to: by numbers alone, so that levels are multiplied as well.
static double peel(StepPtr &end) {
  double factor = 1;
  while (end->op && end->operands.size() == 1 && end->constants.empty()) {
    size_t position = end->operands[0].first;
    const Operator *info = findOperator(*end->op);
    if (!info)
      break;
    Use use = classify(*info, end->arguments, position);
    if (use.kind != Kind::Linear)
      break;
    factor *= use.factors[0];
    end = StepPtr(end->operands[0].second);
  }
  return factor;
}

std::optional<at::Tensor> evaluateDerivative(const at::Tensor &arguments) {
  if (!placed)
    return std::nullopt;
  try {
    Replay replay(*placed, arguments);
    at::Tensor found = replay.pull(at::ones_like(arguments), placedSource,
                                   torch::autograd::Edge())[0];
    if (!found.defined() || found.scalar_type() != at::kDouble)
      return std::nullopt;
    return found.contiguous();
  } catch (const c10::Error &) {
    return std::nullopt;
  }
}

/// Levels in this order, and the numbers between them.
static LevelsPtr makeLevels(int bits, std::vector<double> values) {
  auto levels = std::make_shared<Levels>();
  levels->bits = bits;
  for (size_t i = 1; i < values.size(); ++i)
    levels->boundaries.push_back((values[i - 1] + values[i]) / 2);
  levels->levels = std::move(values);
  return levels;
}

/// Fails where the search is interrupted, as by Ctrl-C.
static LevelsPtr place(const StepPtr &end, Source source, int bits) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("fad::_place_levels", "")
                             .typed<std::vector<double>(int64_t)>();
  auto restore = c10::make_scope_exit([] { placed = nullptr; });
  placed = &end;
  placedSource = source;
  std::vector<double> found = op.call(bits);
  return found.size() < 2 ? LevelsPtr() : makeLevels(bits, std::move(found));
}

static LevelsPtr multiply(const LevelsPtr &levels, double factor) {
  if (!levels || factor == 1)
    return levels;
  std::vector<double> values = levels->levels;
  for (double &value : values)
    value *= factor;
  if (factor < 0)
    std::reverse(values.begin(), values.end());
  // Such a factor has no levels, or all of them are the same.
  if (!std::isfinite(values.front()) || !std::isfinite(values.back()) ||
      values.front() == values.back())
    return {};
  return makeLevels(levels->bits, std::move(values));
}

namespace {
/// The levels that have been placed. A search takes long, and a number may be
/// another one in each step of a program: sequences of the same operators have
/// levels for the first few numbers, and exact derivatives after those.
struct Known {
  static constexpr size_t maxOperators = 1024, maxNumbers = 16;
  ProcessMutex mutex{Rank::Others};
  std::unordered_map<std::string, std::unordered_map<std::string, LevelsPtr>>
      levels;

  /// The levels, which may be none, if they are not to be placed.
  std::optional<LevelsPtr> find(const std::string &operators,
                                const std::string &numbers);
};
} // namespace

std::optional<LevelsPtr> Known::find(const std::string &operators,
                                     const std::string &numbers) {
  std::lock_guard<std::mutex> lock(mutex);
  auto all = levels.find(operators);
  if (all == levels.end())
    return levels.size() < maxOperators ? std::nullopt
                                        : std::optional<LevelsPtr>(nullptr);
  if (auto found = all->second.find(numbers); found != all->second.end())
    return found->second;
  if (all->second.size() < maxNumbers)
    return std::nullopt;
  TORCH_WARN_ONCE(
      "fad.torch.nest: derivatives stay exact for further numbers of a "
      "sequence "
      "that had ",
      maxNumbers,
      " different ones, as levels of derivative_bits are "
      "searched for each. A number that the result is multiplied by, or that "
      "is added to it, needs no search of its own: take one that changes out "
      "of the nonlinear operators.");
  return LevelsPtr();
}

static std::string print(const std::vector<double> &numbers) {
  std::ostringstream out;
  out << std::hexfloat;
  for (double number : numbers)
    out << number << ' ';
  return out.str();
}

/// The levels of the derivative of a sequence, which is a function of `source`
/// and of numbers alone; null where it is not, or has none. Sequences of the
/// same operators and numbers share them.
static LevelsPtr findLevels(const StepPtr &end, Source source, int bits) {
  auto &known = OfProcess<Known>::get();
  if (!end || placed)
    return {};
  StepPtr inner = end;
  double factor = peel(inner);
  if (!inner->op)
    return {};
  SequenceText text = describe(inner);
  if (text.lines.empty() || text.sources.size() != 1 ||
      text.places[0] != source || !text.constants.empty() ||
      !text.scalars.empty())
    return {};
  std::string operators = text.lines + static_cast<char>('0' + bits);
  std::string numbers = print(text.numbers);
  if (auto found = known.find(operators, numbers))
    return multiply(*found, factor);
  // Without the lock, as this runs Python.
  LevelsPtr levels = place(inner, source, bits);
  std::lock_guard<std::mutex> lock(known.mutex);
  return multiply(
      known.levels[operators].emplace(std::move(numbers), levels).first->second,
      factor);
}

LevelsPtr levelsOf(const at::Tensor &tensor, const Value &value) {
  if (!value.bits || value.sources.size() != 1 || !tensor.device().is_cpu() ||
      torch::autograd::get_current_graph_task_exec_info())
    return {};
  OutsideModes guard;
  return findLevels(value.steps(), value.sources.front(), value.bits);
}

} // namespace fad::eager
