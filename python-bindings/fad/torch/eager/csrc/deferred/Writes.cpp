//===- Writes.cpp - Writes to what deferred sequences read ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Writes.h"
#include "interception/Arguments.h"
#include "interception/Keys.h"
#include "deferred/LazyTensor.h"
#include "interception/SilentWrites.h"
#include <ATen/core/stack.h>
#include <torch/library.h>
#include <map>

namespace fad::eager {

/// Asked for before a tensor takes another one's memory by `.data = `.
static constexpr const char *kTakesMemory = "aten::_has_compatible_shallow_copy_type";

static void callBelow(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                      torch::jit::Stack *stack) {
  if (keys.has(tensorKey))
    return readBoxed(op, keys, stack);
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd))
    return op.redispatchBoxed(belowKeys(keys), stack);
  redispatch(op, keys, stack);
}

static void write(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
  if (LazyTensor::live) {
    bool takesMemory = op.operator_name().name == kTakesMemory;
    auto visit = [&](const at::Tensor &tensor) {
      if (!lazyOf(tensor) || lazyOf(tensor)->isComputed())
        LazyTensors::computeReadersOf(tensor);
      else if (takesMemory)
        compute(tensor);
    };
    for (const c10::IValue &argument :
         torch::jit::last(*stack, op.schema().arguments().size()))
      visitTensors(argument, visit);
  }
  callBelow(op, keys, stack);
}

static void writeSilently(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                          torch::jit::Stack *stack) {
  noteSilentWrites(op, *stack, [](const at::Tensor &tensor) {
    if (LazyTensor::live)
      LazyTensors::computeReadersOf(tensor);
  });
  callBelow(op, keys, stack);
}

/// Whether an operator may write to memory, or hand it out, and says so.
static bool mayWrite(const c10::OperatorHandle &op) {
  const std::string &name = op.operator_name().name;
  // A tensor without a graph is what arrays of other libraries are made of.
  return op.schema().is_mutable() || name == "aten::detach" || name == kTakesMemory;
}

/// Has the mode call `function` for all operators that `isWatched` holds of.
template <auto *function>
static void watch(bool (*isWatched)(const c10::OperatorHandle &op)) {
  static std::map<std::string, torch::Library> libraries;
  auto &dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName &name : dispatcher.getAllOpNames()) {
    auto op = dispatcher.findSchema(name);
    if (!op || !isWatched(*op))
      continue;
    std::string space = name.name.substr(0, name.name.find(':'));
    auto library = libraries.try_emplace(space, torch::Library::IMPL, space, modeKey, __FILE__,
                                         __LINE__);
    std::string full = name.name + (name.overload_name.empty() ? "" : ".") + name.overload_name;
    library.first->second.impl(full.c_str(),
                               torch::CppFunction::makeFromBoxedFunction<function>());
  }
}

void watchSilentWrites() { watch<&writeSilently>(isSilentWriter); }

void watchWrites() { watch<&write>(mayWrite); }

} // namespace fad::eager
