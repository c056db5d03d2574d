//===- Copies.cpp - Copies of overwritten memory --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Copies.h"
#include "deferred/Streams.h"
#include "sequence/Value.h"
#include <ATen/ops/as_strided.h>

namespace fad::eager {

/// A copy of the elements that has the tensor's strides, where the elements
/// take no more memory than they are many.
static at::Tensor copy(const at::Tensor &tensor) {
  int64_t span = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i)
    span += (tensor.size(i) - 1) * tensor.stride(i);
  if (tensor.numel() == 0 || span > tensor.numel())
    return tensor.clone();
  return tensor.as_strided({span}, {1})
      .clone()
      .as_strided(tensor.sizes(), tensor.strides(), 0);
}

at::Tensor Copies::copyOf(const at::Tensor &tensor,
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
  copies.push_back({tensor, copy(tensor), stream});
  if (stream)
    LateWork::record(*stream);
  return copies.back().copy;
}

void Copies::make(const at::Tensor &written) {
  std::vector<StepPtr> steps = findReaders(written);
  if (steps.empty())
    return;
  for (StepPtr &step : steps) {
    // A capture would not run the copy, or run it again.
    if (isCapturing(step->stream))
      continue;
    auto read = [&](const Step::Constant &input) {
      if (input.tensor.defined() && input.tensor.has_storage() &&
          input.tensor.storage().is_alias_of(written.storage()) &&
          !isModified(input))
        readings.push_back({step, &input, copyOf(input.tensor, step->stream)});
    };
    read(step->value);
    for (const Step::Constant &constant : step->constants)
      read(constant);
  }
  owners.push_back(written);
}

void Copies::put() {
  for (const auto &[step, input, copy] : readings)
    if (isModified(*input))
      readCopy(*step, *input, copy);
}

} // namespace fad::eager
