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
#include <ATen/ops/as_strided.h>
#include <unordered_set>

namespace fad::eager {

/// How many elements of memory a tensor spans.
static int64_t countSpan(const at::Tensor &tensor) {
  int64_t span = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i)
    span += (tensor.size(i) - 1) * tensor.stride(i);
  return tensor.numel() ? span : 0;
}

/// A copy of the elements that has the tensor's strides, where the elements
/// take no more memory than they are many.
static at::Tensor copy(const at::Tensor &tensor) {
  int64_t span = countSpan(tensor);
  if (!span || span > tensor.numel())
    return tensor.clone();
  return tensor.as_strided({span}, {1})
      .clone()
      .as_strided(tensor.sizes(), tensor.strides(), 0);
}

/// Whether a copy of an input stands for what a write to memory overwrites.
static bool mayCopy(const Step::Constant &input, const at::Tensor &written) {
  const at::Tensor &tensor = input.tensor;
  if (!tensor.defined() || !tensor.has_storage() ||
      !tensor.storage().is_alias_of(written.storage()) || isModified(input))
    return false;
  auto end = static_cast<size_t>(tensor.storage_offset() + countSpan(tensor));
  // The elements of some tensors are those of their memory, negated.
  return end * tensor.itemsize() <= tensor.storage().nbytes() &&
         !tensor.is_neg() && !tensor.is_conj();
}

/// The steps of the thread's open sequences.
static std::unordered_set<Step *> findOpenSteps() {
  std::unordered_set<Step *> steps;
  for (const StepPtr &end : LazyTensors::findOpen())
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

void copyForReaders(const at::Tensor &written) {
  std::vector<Copied> copies;
  auto copyOf = [&](const at::Tensor &tensor,
                    const std::optional<c10::Stream> &stream) {
    auto found = std::find_if(copies.begin(), copies.end(), [&](auto &each) {
      return each.stream == stream && isSame(each.tensor, tensor) &&
             each.tensor.scalar_type() == tensor.scalar_type();
    });
    if (found != copies.end())
      return found->copy;
    OutsideModes outsideModes;
    OutsideTransforms outsideTransforms;
    // Backward runs there.
    OnRecordedStream there(stream);
    // The steps' own alias is going to have the copy.
    copies.push_back({aliasOf(tensor), copy(tensor), stream});
    if (stream)
      LateWork::record(*stream);
    return copies.back().copy;
  };
  std::vector<StepPtr> readers = findReaders(written);
  if (readers.empty())
    return;
  std::unordered_set<Step *> open;
  if (LazyTensors::count)
    open = findOpenSteps();
  for (const StepPtr &step : readers) {
    // A capture would not run the copy, or run it again.
    if (isCapturing(step->stream))
      continue;
    auto read = [&](const Step::Constant &input) {
      bool isOpen = !input.isLeaf && open.count(step.get());
      if ((input.isIntermediate || isOpen) && mayCopy(input, written))
        readCopy(*step, input, copyOf(input.tensor, step->stream));
    };
    read(step->value);
    for (const Step::Constant &constant : step->constants)
      read(constant);
  }
}

} // namespace fad::eager
