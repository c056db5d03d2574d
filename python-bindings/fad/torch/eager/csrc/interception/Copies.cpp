//===- Copies.cpp - Copies of overwritten memory --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Copies.h"
#include "deferred/Defer.h"
#include "deferred/Streams.h"
#include "sequence/ReadMemory.h"
#include <c10/util/hash.h>
#include <unordered_set>

namespace fad::eager {

/// The steps of sequences.
static std::unordered_set<Step *> stepsOf(const std::vector<StepPtr> &ends) {
  std::unordered_set<Step *> steps;
  for (const StepPtr &end : ends)
    for (Step *step : order(end))
      steps.insert(step);
  return steps;
}

namespace {
struct Copied {
  at::Tensor tensor, copy;
  std::optional<c10::Stream> stream;
};
} // namespace

/// One number for the same elements of one memory.
static size_t hash(const at::Tensor &tensor) {
  auto found = static_cast<size_t>(tensor.storage_offset());
  for (c10::IntArrayRef numbers : {tensor.sizes(), tensor.strides()})
    for (int64_t number : numbers)
      found = c10::hash_combine(found, static_cast<size_t>(number));
  return found;
}

void copyForReaders(const at::Tensor &written, bool isForgotten) {
  std::unordered_multimap<size_t, Copied> copies;
  std::vector<c10::Storage> before;
  auto copyOf = [&](const at::Tensor &tensor,
                    const std::optional<c10::Stream> &stream) {
    size_t key = hash(tensor);
    auto [begin, end] = copies.equal_range(key);
    auto found = std::find_if(begin, end, [&](const auto &each) {
      const Copied &copied = each.second;
      return copied.stream == stream && isSame(copied.tensor, tensor) &&
             copied.tensor.scalar_type() == tensor.scalar_type();
    });
    if (found != end)
      return found->second.copy;
    OutsideModes outsideModes;
    OutsideTransforms outsideTransforms;
    // Backward runs there.
    OnRecordedStream there(stream);
    // The steps' own alias is going to have the copy.
    Copied copied = {aliasOf(tensor), copyElements(tensor), stream};
    if (stream)
      LateWork::record(*stream);
    return copies.emplace(key, std::move(copied))->second.copy;
  };
  std::vector<StepPtr> readers = findReaders(written);
  if (readers.empty())
    return;
  std::vector<StepPtr> ends;
  if (LazyTensors::count && !isForgotten)
    ends = LazyTensors::findOpen();
  std::unordered_set<Step *> open = stepsOf(ends);
  // Steps, tensors and memory go after it: that may wait for Python's lock.
  std::lock_guard<std::mutex> lock(copying());
  for (const StepPtr &step : readers) {
    // A capture would not run the copy, or run it again.
    if (isCapturing(step->stream))
      continue;
    auto read = [&](const Step::Constant &input) {
      bool isOpen = !input.isLeaf && open.count(step.get());
      if ((input.isIntermediate || isOpen) && mayCopy(input, written))
        before.push_back(
            readCopy(*step, input, copyOf(input.tensor, step->stream)));
    };
    read(step->value);
    for (const Step::Constant &constant : step->constants)
      read(constant);
  }
}

} // namespace fad::eager
