//===- CompiledAutograd.cpp - Sequences under compiled autograd -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled autograd makes a program of a backward, and keeps it for later ones
// with the same nodes. A sequence is a call there that is not looked into: of
// the gradient, and of a handle, which is a tensor that stands for the node.
// The handle is an argument of the program, so that each backward has its own.
//
//===----------------------------------------------------------------------===//

#include "sequence/SequenceNode.h"
#include <ATen/core/grad_mode.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

namespace fad::eager {

using torch::autograd::variable_list;
namespace compiled = torch::dynamo::autograd;

static Owned<SequenceNode> copy(const SequenceNode &node);

/// The steps, which begin at values of copies of nodes.
static StepPtr copyStarts(const StepPtr &end) {
  Starts starts;
  if (end)
    for (const StepPtr &start : findStarts(end)) {
      StepPtr made =
          makeStart(*start, start->value.tensor,
                    copy(static_cast<const SequenceNode &>(*start->start)));
      made->value.version = start->value.version;
      starts.emplace(start.get(), std::move(made));
    }
  return starts.empty() ? end : beginAt(end, starts);
}

/// The work of a node in backward, whose own may be released before the program
/// runs.
static Owned<SequenceNode> copy(const SequenceNode &node) {
  auto made = makeNode<SequenceNode>();
  for (size_t i = 0; i < node.sources.size(); ++i)
    made->addSource(node.next_edge(i));
  made->held = node.held;
  made->setSteps(copyStarts(node.getSteps()));
  made->results = node.results;
  made->bits = node.bits;
  std::copy(node.values, node.values + 2, made->values);
  made->levels = node.levels;
  made->isReleased = node.isReleased;
  return made;
}

static void freeHandle(void *owner) {
  delete static_cast<Owned<SequenceNode> *>(owner);
}

/// A tensor of one element, which is never read.
static at::Tensor makeHandle(const SequenceNode &node) {
  auto *memory = new Owned<SequenceNode>(copy(node));
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), sizeof(uint8_t),
      c10::DataPtr(memory, memory, freeHandle, c10::kCPU), nullptr,
      /*resizable=*/false);
  at::Tensor handle = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      caffe2::TypeMeta::Make<uint8_t>());
  handle.unsafeGetTensorImpl()->set_sizes_contiguous({1});
  return handle;
}

/// Functions that the program calls: the gradients of the sources.
static variable_list pullByHandle(const variable_list &gradients,
                                  const std::vector<c10::IValue> &arguments) {
  const at::Tensor handle = arguments.at(0).toTensor();
  const c10::DataPtr &memory = handle.storage().data_ptr();
  TORCH_CHECK(memory.get_deleter() == freeHandle,
              "fad.torch.nest: compiled autograd has copied what stands for a "
              "nested sequence; call backward without compiled autograd");
  // The program runs with gradients where backward was asked for a graph.
  TORCH_CHECK_NOT_IMPLEMENTED(
      !at::GradMode::is_enabled(),
      "fad.torch.nest: compiled autograd cannot differentiate the backward of "
      "a nested sequence again; call backward without compiled autograd, or "
      "leave nest() out");
  return (*static_cast<Owned<SequenceNode> *>(memory.get_context()))
      ->pull(variable_list(gradients));
}

/// Whether the gradient of a node's result is asked for by name. That is in the
/// key alone, after the number of the node, which takes a byte and, where that
/// is one of the last three, 2, 4 or 8 others.
static bool isAskedFor(compiled::CompiledNodeArgs &args, const NodePtr &node) {
  size_t place = args.key().key_size + 1;
  args.collect(node);
  const uint8_t *key = args.key().key;
  size_t more = key[place] < 253 ? 0 : size_t(2) << (key[place] - 253);
  return key[place + 1 + more] != 0;
}

void SequenceNode::compiled_args(compiled::CompiledNodeArgs &args) const {
  for (size_t i = sources.size(); i < num_outputs(); ++i) {
    const NodePtr &skipped = next_edge(i).function;
    checkSkipped(*skipped, isAskedFor(args, skipped));
    // Without a gradient, compiled autograd cannot call PyTorch's nodes.
    TORCH_CHECK_NOT_IMPLEMENTED(
        castTo<SequenceNode>(skipped.get()),
        "fad.torch.nest: compiled autograd cannot trace the backward of a "
        "nested sequence of which an operator outside (",
        skipped->name(),
        ") has read a value before; call backward without compiled autograd, "
        "or leave nest() out");
  }
  handle = makeHandle(*this);
  args.collect(handle);
  args.collect_size(sources.size());
}

variable_list
SequenceNode::apply_with_saved(const variable_list &gradients,
                               compiled::SwapSavedVariables &saved) {
  variable_list result(num_outputs());
  if (!gradients[0].defined())
    return result;
  const auto &program = compiled::getPyCompilerInterface();
  PyObject *compiler = saved.get_py_compiler();
  static const std::string name = program->bind_function(
      compiler, "FadBackward", pullByHandle, {at::TensorType::get()},
      /*is_custom_function=*/true, /*is_traceable=*/false);
  torch::autograd::edge_list edges(next_edges().begin(),
                                   next_edges().begin() + sources.size());
  auto metadata = compiled::IValuePacker<
      std::vector<std::optional<torch::autograd::InputMetadata>>>::
      pack(compiled::get_input_metadata(edges));
  saved.before(handle);
  variable_list found = program->call_function(
      compiler, "apply_functional", name, gradients, {handle}, metadata);
  saved.after(handle);
  std::move(found.begin(), found.end(), result.begin());
  return result;
}

} // namespace fad::eager
