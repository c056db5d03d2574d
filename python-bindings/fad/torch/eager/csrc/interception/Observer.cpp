//===- Observer.cpp - Reports of sequences to Python ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Observer.h"
#include "deferred/LazyTensor.h"
#include "sequence/Observer.h"
#include "sequence/SequenceNode.h"
#include <sstream>

namespace fad::eager {

static thread_local Listener listener = nullptr;
/// Objects that events have named. Memory of tensors is free once nothing else
/// needs it.
static thread_local std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>>
    named;
static thread_local std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>>
    namedTensors;

/// Calls the listener, which runs Python.
static void tell(const std::ostringstream &event) {
  c10::impl::ExcludeDispatchKeyGuard guard(bothKeys);
  listener(event.str().c_str());
}

static void printStorage(std::ostream &out, const at::Tensor &tensor) {
  const c10::Storage &storage = tensor.storage();
  named.emplace_back(storage.getWeakStorageImpl());
  out << '[' << reinterpret_cast<uintptr_t>(storage.unsafeGetStorageImpl())
      << ", " << storage.nbytes() << ']';
}

/// The address that names a tensor, and its bytes.
static void print(std::ostream &out, const at::Tensor &tensor) {
  if (!lazyOf(tensor))
    return printStorage(out, tensor);
  namedTensors.emplace_back(tensor.getIntrusivePtr());
  out << '[' << reinterpret_cast<uintptr_t>(tensor.unsafeGetTensorImpl())
      << ", " << tensor.nbytes() << ']';
}

static void print(std::ostream &out, const char *name,
                  const std::vector<at::Tensor> &tensors) {
  out << ", \"" << name << "\": [";
  const char *separator = "";
  for (const at::Tensor &tensor : tensors) {
    print(out << separator, tensor);
    separator = ", ";
  }
  out << ']';
}

/// Whether eager PyTorch's node saves an argument of a fad operator.
static bool isSaved(const Operator &op, c10::ArrayRef<c10::IValue> arguments,
                    size_t position) {
  if (op.saves != Saves::Input)
    return false;
  auto needsGradient = [&](size_t other) {
    return arguments[other].isTensor() &&
           arguments[other].toTensor().requires_grad();
  };
  if (op.form == Form::Multiply)
    return needsGradient(1 - position);
  return op.form != Form::Divide || position == 1 || needsGradient(1);
}

namespace {
/// Tells of the sequences of a thread.
struct Teller final : Observer {
  void onOperator(const Call &call, const at::Tensor &result) override;
  void onEnd(const at::Tensor &tensor, const Value &value, const Ending &ending,
             const Choice &choice) override;
};
} // namespace

void setListener(Listener function) {
  static Teller teller;
  listener = function;
  observer = function ? &teller : nullptr;
  options.isObserved = function != nullptr;
  named.clear();
  namedTensors.clear();
}

void Teller::onOperator(const Call &call, const at::Tensor &result) {
  const Operator &op = call.info;
  c10::ArrayRef<c10::IValue> arguments = call.arguments;
  const auto &positions = call.positions;
  std::vector<at::Tensor> sources, inner, constants, saved;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isTensor() || !arguments[i].toTensor().defined())
      continue;
    const at::Tensor &tensor = arguments[i].toTensor();
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
      continue;
    auto found = std::find(positions.begin(), positions.end(), i);
    if (found == positions.end())
      constants.push_back(tensor);
    else
      (call.values[found - positions.begin()] ? inner : sources)
          .push_back(tensor);
    if (isSaved(op, arguments, i))
      saved.push_back(tensor);
  }
  if (op.saves == Saves::Result)
    saved.push_back(result);
  std::ostringstream event;
  std::string name = op.name;
  event << "{\"event\": \"operator\", \"name\": \""
        << name.substr(0, name.find('.')) << '"';
  print(event, "result", {result});
  print(event, "sources", sources);
  print(event, "inner", inner);
  print(event, "constants", constants);
  print(event, "saved", saved);
  event << '}';
  tell(event);
}

/// The bytes of tensors that a sequence's node has of its own.
static int64_t countHeld(const Value &value) {
  if (!value.sequence)
    return 0;
  const SequenceNode &node = *value.sequence;
  const at::Tensor &held = node.bits.defined() ? node.bits : node.held.tensor;
  int64_t bytes = held.defined() ? static_cast<int64_t>(held.nbytes()) : 0;
  for (const at::Tensor &result : node.results)
    bytes += static_cast<int64_t>(result.nbytes());
  return bytes;
}

void Teller::onEnd(const at::Tensor &tensor, const Value &value,
                   const Ending &ending, const Choice &choice) {
  std::ostringstream event;
  event << "{\"event\": \"end\", \"kept\": \"" << name(choice.kept)
        << "\", \"reason\": \"" << reason(value.policy, ending, choice)
        << "\", \"held\": " << countHeld(value);
  LazyTensor *lazy = lazyOf(tensor);
  event << ", \"computed\": \"" << name(lazy ? lazy->how() : Computed::AtOnce)
        << '"';
  print(event, "value", {tensor});
  // Views are named by the storage.
  printStorage(event << ", \"storage\": ", tensor);
  event << '}';
  tell(event);
}

/// The name of an operator without that of its library.
static std::string shortName(const c10::OperatorName &op) {
  return op.name.substr(op.name.find(':') + 2);
}

void observeLeft(const c10::OperatorName &op, std::string_view reason) {
  std::ostringstream event;
  event << "{\"event\": \"left\", \"name\": \"" << shortName(op)
        << "\", \"reason\": \"" << reason << "\"}";
  tell(event);
}

/// Whether a reader's node saves the argument: of readers that a recomputed
/// value can replace, `isSaved`, and of fad operators, their inputs.
static bool savesInput(const c10::OperatorName &reader) {
  for (const Operator &op : operators()) {
    std::string_view name = op.name;
    if (reader.name.substr(6) == name.substr(0, name.find('.')))
      return op.saves == Saves::Input;
  }
  return false;
}

void observeReader(const c10::OperatorName &reader, const at::Tensor &value,
                   bool isSaved, bool isRecomputed) {
  std::ostringstream event;
  event << std::boolalpha << "{\"event\": \"reader\", \"name\": \""
        << shortName(reader)
        << "\", \"saves\": " << (isSaved || savesInput(reader))
        << ", \"recomputed\": " << (isSaved && isRecomputed);
  print(event, "value", {value});
  event << '}';
  tell(event);
}

} // namespace fad::eager
