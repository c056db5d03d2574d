//===- Path.cpp - Operators that may come to begin elsewhere --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Path.h"
#include "sequence/ReadMemory.h"
#include "sequence/SequenceNode.h"
#include <c10/core/TensorOptions.h>
#include <unordered_set>

namespace fad::eager {

/// Whether all sources are kept.
static bool hasSources(const StepPtr &end) {
  if (!end->isMoved)
    return true;
  const std::vector<Step *> steps = order(end);
  return std::none_of(steps.begin(), steps.end(),
                      [](const Step *step) { return step->isUnread; });
}

Path::Path(StepPtr end)
    : end(std::move(end)), givesValue(hasSources(this->end)) {}

bool Path::noteReaders() {
  std::lock_guard<std::mutex> lock(access);
  isRead |= givesValue;
  return givesValue;
}

bool Path::hasReaders() const {
  std::lock_guard<std::mutex> lock(access);
  return isRead;
}

StepPtr Path::get() const {
  std::lock_guard<std::mutex> lock(access);
  return end;
}

void Path::replace(const StepPtr &before, StepPtr after) {
  // The steps before have another owner: their end may wait for Python's lock.
  const bool hasValue = hasSources(after);
  std::lock_guard<std::mutex> lock(access);
  if (end != before || (isRead && !hasValue))
    return;
  end = std::move(after);
  givesValue = hasValue;
}

SavedValue::SavedValue(const at::Tensor &value)
    : memory(value.storage().getWeakStorageImpl()),
      counter(value.unsafeGetTensorImpl()->version_counter()),
      version(static_cast<uint32_t>(counter.current_version())),
      sizes(value.sizes().vec()), strides(value.strides().vec()),
      offset(value.storage_offset()), options(value.options()) {}

at::Tensor SavedValue::findSaved() const {
  auto there = memory.lock();
  if (!there || static_cast<uint32_t>(counter.current_version()) != version)
    return {};
  at::Tensor value = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(there)),
      c10::DispatchKeySet(c10::computeDispatchKey(
          options.dtype().toScalarType(), options.layout(), options.device())),
      options.dtype());
  value.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  value.unsafeGetTensorImpl()->set_version_counter(counter);
  return value;
}

StepPtr makeStart(const Step &step, const at::Tensor &value, NodePtr node) {
  auto start = c10::make_intrusive<Step>();
  start->number = step.number;
  if (node)
    start->source.node = node.get();
  else
    start->source = step.source;
  start->start = std::move(node);
  start->isMoved = true;
  start->value = {value, static_cast<uint32_t>(value._version())};
  start->value.isIntermediate = true;
  addReader(start);
  return start;
}

/// A copy with other operands.
static StepPtr copyStep(Step &step,
                        const std::unordered_map<Step *, StepPtr> &copies) {
  auto copy = c10::make_intrusive<Step>();
  static_cast<StepFacts &>(*copy) = step;
  copy->length = 0;
  copy->isWide = step.source.node;
  copy->isMoved = true;
  for (auto &[position, operand] : copy->operands) {
    if (auto found = copies.find(operand.get()); found != copies.end())
      operand = found->second;
    copy->length = std::max(copy->length, operand->length);
    copy->isWide |= operand->isWide;
  }
  ++copy->length;
  copy->isKept = step.isKept.load(std::memory_order_acquire);
  copy->ends = step.ends.load();
  {
    std::lock_guard<std::mutex> lock(step.access);
    copy->computed = step.computed;
    copy->own = step.own;
  }
  // The constants are the same, and have the versions that they had.
  if (!step.read.empty())
    addReader(copy, /*isNew=*/false);
  return copy;
}

/// The steps, of which none comes before one of `starts` alone.
static std::vector<Step *> orderFrom(const StepPtr &end, const Starts &starts) {
  Values known;
  for (const auto &[step, start] : starts)
    known.emplace(step, at::Tensor());
  return order(end, &known, /*addsComputed=*/false);
}

/// A source like another, of one element that stands for all.
static StepPtr makeUnread(const Step &source) {
  OutsideModes guard;
  auto made = c10::make_intrusive<Step>();
  made->number = source.number;
  made->source = source.source;
  made->isMoved = made->isUnread = true;
  made->value = {filled(0, source.value.tensor), 0};
  return made;
}

void addUnread(const StepPtr &end, Starts &starts) {
  const std::vector<Step *> steps = orderFrom(end, starts);
  // A cast that is a source is computed from its operand.
  auto readsOperands = [](const Step &step) {
    return !step.isLinear || step.source.node;
  };
  std::unordered_set<const Step *> read;
  // Operands come before what reads them.
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (!starts.count(*step) && (read.count(*step) || readsOperands(**step)))
      for (const auto &[position, operand] : (*step)->operands)
        read.insert(operand.get());
  for (Step *step : steps)
    if (!step->op && step->value.isIntermediate && !starts.count(step) &&
        !read.count(step))
      starts.emplace(step, makeUnread(*step));
}

StepPtr beginAt(const StepPtr &end, const Starts &starts) {
  std::unordered_map<Step *, StepPtr> copies = starts;
  for (Step *step : orderFrom(end, starts)) {
    auto isCopied = [&](const auto &each) {
      return copies.count(each.second.get());
    };
    if (!copies.count(step) &&
        std::any_of(step->operands.begin(), step->operands.end(), isCopied))
      copies.emplace(step, copyStep(*step, copies));
  }
  auto found = copies.find(end.get());
  return found == copies.end() ? end : found->second;
}

bool letsGo(const StepPtr &end, const Starts &starts) {
  // Several steps may read one tensor.
  auto findMemories = [](const std::vector<Step *> &steps,
                         const Starts &leftOut) {
    std::unordered_set<const c10::StorageImpl *> memories;
    auto add = [&](const StepInput &input) {
      memories.insert(getMemory(input).unsafeGetStorageImpl());
    };
    for (Step *step : steps) {
      if (leftOut.count(step))
        continue;
      std::for_each(step->constants.begin(), step->constants.end(), add);
      if (step->value.isIntermediate)
        add(step->value);
    }
    return memories.size();
  };
  return findMemories(orderFrom(end, starts), starts) <
         findMemories(order(end), {});
}

std::vector<StepPtr> findStarts(const StepPtr &end) {
  std::vector<StepPtr> found;
  if (end->isMoved)
    for (Step *step : order(end))
      if (step->start)
        found.push_back(StepPtr::unsafe_reclaim_from_nonowning(step));
  return found;
}

} // namespace fad::eager
