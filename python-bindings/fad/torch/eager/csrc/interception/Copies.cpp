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

/// Whether a copy of an input stands for what a write to memory overwrites.
static bool mayCopy(const Step::Constant &input, const at::Tensor &written) {
  const at::Tensor &tensor = input.tensor;
  bool isLeaf = input.silentWrites == std::numeric_limits<uint64_t>::max();
  // The elements of some tensors are those of their memory, negated.
  return tensor.defined() && tensor.has_storage() && !isLeaf &&
         !tensor.is_neg() && !tensor.is_conj() &&
         tensor.storage().is_alias_of(written.storage()) && !isModified(input);
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
  for (const StepPtr &step : findReaders(written)) {
    // A capture would not run the copy, or run it again.
    if (isCapturing(step->stream))
      continue;
    auto read = [&](const Step::Constant &input) {
      if (mayCopy(input, written))
        readCopy(*step, input, copyOf(input.tensor, step->stream));
    };
    read(step->value);
    for (const Step::Constant &constant : step->constants)
      read(constant);
  }
}

} // namespace fad::eager
