//===- Writes.cpp - Writes to what sequences read -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Writes.h"
#include "deferred/LazyTensor.h"
#include "interception/Copies.h"
#include "interception/Reader.h"
#include "sequence/Arguments.h"
#include "sequence/Fork.h"
#include "sequence/Operators.h"
#include "sequence/SilentWrites.h"
#include <ATen/core/stack.h>
#include <atomic>
#include <map>
#include <mutex>
#include <torch/library.h>
#include <unordered_set>

namespace fad::eager {

/// Asked for before a tensor takes another one's memory by `.data = `.
static constexpr const char *kTakesMemory =
    "aten::_has_compatible_shallow_copy_type";

static void callBelow(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                      torch::jit::Stack *stack) {
  if (keys.has(tensorKey))
    return readBoxed(op, keys, stack);
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd))
    return op.redispatchBoxed(belowKeys(keys), stack);
  redispatch(op, keys, stack);
}

void prepareWrites(const c10::OperatorHandle &op,
                   const torch::jit::Stack &stack, WriteUnderWay &writing) {
  bool takesMemory = op.operator_name().name == kTakesMemory;
  // Sharded parameters are gathered anew for backward, which reads them.
  bool isGather = op.operator_name().name.rfind("fsdp::", 0) == 0;
  const auto &arguments = op.schema().arguments();
  auto values = torch::jit::last(stack, arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo *alias = arguments[i].alias_info();
    visitTensors(values[i], [&](const at::Tensor &tensor) {
      bool isWritten = alias && alias->isWrite();
      if (isWritten)
        writing.add(tensor);
      if (LazyTensors::count) {
        if (!lazyOf(tensor) || lazyOf(tensor)->isComputed())
          LazyTensors::computeReadersOf(tensor, isWritten);
        else if (takesMemory)
          compute(tensor);
      }
      if (takesMemory && i == 0 && hasReaders())
        copyForReaders(tensor, /*isForgotten=*/true);
      if (isWritten) {
        if (!isGather && hasReaders())
          copyForReaders(tensor);
        LateWork::waitForAll(tensor.device());
      }
    });
  }
}

static void write(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
  WriteUnderWay writing;
  prepareWrites(op, *stack, writing);
  callBelow(op, keys, stack);
}

static void writeSilently(const c10::OperatorHandle &op,
                          c10::DispatchKeySet keys, torch::jit::Stack *stack) {
  WriteUnderWay writing;
  noteSilentWrites(op, *stack, [&](const at::Tensor &tensor) {
    writing.add(tensor);
    if (LazyTensors::count)
      LazyTensors::computeReadersOf(tensor, /*isWritten=*/true);
    if (hasReaders())
      copyForReaders(tensor);
    LateWork::waitForAll(tensor.device());
  });
  callBelow(op, keys, stack);
}

/// Whether an operator may write to memory, or hand it out, and says so.
static bool mayWrite(const c10::OperatorHandle &op) {
  const std::string &name = op.operator_name().name;
  // A tensor without a graph is what arrays of other libraries are made of.
  // Activations in place have kernels of their own.
  return (op.schema().is_mutable() && !isInPlaceOperator(op.operator_name())) ||
         name == "aten::detach" || name == kTakesMemory;
}

/// Has the mode call `function` for an operator. There is one lock for all
/// calls.
template <auto *function> static void watch(const c10::OperatorName &name) {
  static std::map<std::string, torch::Library> libraries;
  std::string space = name.name.substr(0, name.name.find(':'));
  auto library = libraries.try_emplace(space, torch::Library::IMPL, space,
                                       modeKey, __FILE__, __LINE__);
  std::string full =
      name.name + (name.overload_name.empty() ? "" : ".") + name.overload_name;
  library.first->second.impl(
      full.c_str(), torch::CppFunction::makeFromBoxedFunction<function>());
}

void watchSilentWrites() {
  auto &dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName &name : dispatcher.getAllOpNames())
    if (auto op = dispatcher.findSchema(name); op && isSilentWriter(*op))
      watch<&writeSilently>(name);
}

namespace {
/// Operators that are not looked at yet. The dispatcher, which is locked, first
/// tells of those that there are, and then of those that libraries add.
struct NewOperators : c10::OpRegistrationListener {
  ProcessMutex &mutex;
  std::vector<c10::OperatorName> names;
  std::atomic<bool> hasSome{false};

  explicit NewOperators(ProcessMutex &mutex) : mutex(mutex) {}

  void onOperatorRegistered(const c10::OperatorHandle &op) override {
    std::lock_guard<std::mutex> lock(mutex);
    names.push_back(op.operator_name());
    hasSome = true;
  }
  void onOperatorDeregistered(const c10::OperatorHandle &) override {}

  std::vector<c10::OperatorName> take() {
    std::lock_guard<std::mutex> lock(mutex);
    hasSome = false;
    return std::move(names);
  }
};
} // namespace

static NewOperators *newOperators = nullptr;
namespace {
struct Watching {
  /// Of who looks at new operators, and of their names.
  ProcessMutex mutex{Rank::Operators}, names{Rank::Others};
};
} // namespace

void watchWrites() {
  newOperators = new NewOperators(OfProcess<Watching>::get().names);
  static auto *listening = new c10::RegistrationHandleRAII(
      c10::Dispatcher::singleton().addRegistrationListener(
          std::unique_ptr<c10::OpRegistrationListener>(newOperators)));
  (void)listening;
  watchNewOperators();
}

void watchNewOperators() {
  if (!newOperators || !newOperators->hasSome)
    return;
  static std::unordered_set<c10::OperatorName> watched;
  std::lock_guard<std::mutex> lock(OfProcess<Watching>::get().mutex);
  auto &dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName &name : newOperators->take())
    if (auto op = dispatcher.findSchema(name);
        op && mayWrite(*op) && watched.insert(name).second)
      watch<&write>(name);
}

} // namespace fad::eager
