//===- Levels.cpp - The levels of a sequence's derivative -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/FewBits.h"
#include "sequence/Text.h"
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

/// The operators and numbers of a sequence of one source; empty for others.
static std::string findName(const StepPtr &end, Source source) {
  SequenceText text = describe(end);
  if (text.sources.size() != 1 || text.places[0] != source || !text.constants.empty() ||
      !text.scalars.empty())
    return {};
  std::ostringstream name;
  name << text.lines << '\n' << std::hexfloat;
  for (double number : text.numbers)
    name << number << ' ';
  return name.str();
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
  std::string name = findName(end, source);
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
