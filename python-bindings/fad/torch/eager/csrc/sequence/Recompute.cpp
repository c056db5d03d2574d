//===- Recompute.cpp - Readers that compute what they saved ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Recompute.h"
#include "sequence/Holdings.h"
#include "sequence/Readers.h"
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace fad::eager {

using torch::autograd::SavedVariable;
namespace generated = torch::autograd::generated;

namespace {
/// In the place of a saved tensor, where it came from. A write to the tensor
/// after it was saved is not seen, and changes nothing: the value is what it
/// was.
struct Recompute : torch::autograd::SavedVariableHooks {
  Recompute(PathPtr path, Owned<SequenceNode> node, c10::TensorImpl *whole,
            const at::Tensor &tensor)
      : path(std::move(path)), node(std::move(node)),
        layout(whole->strides().vec()), sizes(tensor.sizes().vec()),
        strides(tensor.strides().vec()), offset(tensor.storage_offset()) {}

  void call_pack_hook(const at::Tensor &) override {}

  at::Tensor call_unpack_hook() override {
    if (C10_UNLIKELY(peek.isOn)) {
      peek.found.add(path->get());
      TORCH_CHECK(false, "fad.torch.saved_memory reads, and does not compute");
    }
    at::Tensor value = compute().detach();
    if (value.sizes().equals(sizes) && value.strides().equals(strides) &&
        layout == strides && value.storage_offset() == offset)
      return value;
    at::AutoGradMode off(false);
    PlainGuard guard;
    if (!value.strides().equals(layout))
      value = at::empty_strided(value.sizes(), layout, value.options())
                  .copy_(value);
    return value.as_strided(sizes, strides, offset);
  }

  std::optional<std::pair<c10::SafePyObject, c10::SafePyObject>>
  retrieve_unpack_hook_data() const override {
    // Compiled autograd computes the value before it runs its program.
    return std::nullopt;
  }

  /// The node of the sequence needs the same values: they are left for it.
  at::Tensor compute() {
    const StepPtr step = path->get();
    std::lock_guard<std::mutex> lock(step->mutex);
    if (step->shared)
      return step->shared->value();
    if (!step->op || !runsLater(node.get()) ||
        (step->kernels && step->kernels->hasGradients(step, node->sources)))
      return eager::compute(step);
    step->shared = node->replay(step);
    return step->shared->value();
  }

  PathPtr path;
  Owned<SequenceNode> node;
  /// The strides of the whole value, and what the reader has of it.
  std::vector<int64_t> layout, sizes, strides;
  int64_t offset;
};
} // namespace

static void replace(SavedVariable &saved, const at::Tensor &tensor,
                    Value &value) {
  if (saved.has_hooks())
    return;
  auto data = saved.get_raw_data();
  if (!data || !data->defined() || !data->has_storage() ||
      !data->storage().is_alias_of(tensor.storage()) ||
      static_cast<uint32_t>(data->_version()) != value.version)
    return;
  PlainGuard guard;
  NoEscapes noEscapes;
  Owned<SequenceNode> node;
  PathPtr path;
  if (value.sequence && value.sequence->held.form == Derivative::Steps) {
    node = share(value.sequence);
    path = node->getPath();
  }
  if (!path)
    path = value.recomputed.lock();
  if (!path)
    path = std::make_shared<Path>(value.steps());
  if (!path->noteReaders())
    return;
  value.recomputed = path;
  saved.register_hooks(std::make_unique<Recompute>(
      std::move(path), std::move(node), value.tensor, *data));
}

void replaceSaved(torch::autograd::Node &reader, const at::Tensor &tensor,
                  Value &value) {
#define FAD_SAVED(position, member, other) replace(node->member, tensor, value);
#define FAD_READER(name, type, saved)                                          \
  if (auto *node = dynamic_cast<generated::type *>(&reader)) {                 \
    saved return;                                                              \
  }
  FAD_READERS(FAD_READER, FAD_SAVED)
#undef FAD_READER
#undef FAD_SAVED
}

} // namespace fad::eager
