//===- Observer.cpp - What Python is told of sequences --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interception/Observer.h"
#include <sstream>

namespace fad::eager {

static thread_local Observer observer = nullptr;
/// The storages that events have named. Their memory is free once nothing else needs it.
static thread_local std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> named;

void setObserver(Observer function) {
  observer = function;
  options.isObserved = function != nullptr;
  named.clear();
}

/// Calls the observer, which runs Python.
static void tell(const std::ostringstream &event) {
  c10::impl::ExcludeDispatchKeyGuard guard(bothKeys);
  observer(event.str().c_str());
}

/// The address of a tensor's storage, and its bytes.
static void print(std::ostream &out, const at::Tensor &tensor) {
  const c10::Storage &storage = tensor.storage();
  named.emplace_back(storage.getWeakStorageImpl());
  out << '[' << reinterpret_cast<uintptr_t>(storage.unsafeGetStorageImpl()) << ", "
      << storage.nbytes() << ']';
}

static void print(std::ostream &out, const char *name, const std::vector<at::Tensor> &tensors) {
  out << ", \"" << name << "\": [";
  const char *separator = "";
  for (const at::Tensor &tensor : tensors) {
    print(out << separator, tensor);
    separator = ", ";
  }
  out << ']';
}

/// Whether eager PyTorch's node saves an argument of a fad operator.
static bool isSaved(const Operator &op, c10::ArrayRef<c10::IValue> arguments, size_t position) {
  if (op.saves != Saves::Input)
    return false;
  auto needsGradient = [&](size_t other) {
    return arguments[other].isTensor() && arguments[other].toTensor().requires_grad();
  };
  if (op.form == Form::Multiply)
    return needsGradient(1 - position);
  return op.form != Form::Divide || position == 1 || needsGradient(1);
}

void observeOperator(const Operator &op, c10::ArrayRef<c10::IValue> arguments,
                     c10::ArrayRef<size_t> positions, c10::ArrayRef<Value *> values,
                     const at::Tensor &result) {
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
      (values[found - positions.begin()] ? inner : sources).push_back(tensor);
    if (isSaved(op, arguments, i))
      saved.push_back(tensor);
  }
  if (op.saves == Saves::Result)
    saved.push_back(result);
  std::ostringstream event;
  std::string name = op.name;
  event << "{\"event\": \"operator\", \"name\": \"" << name.substr(0, name.find('.')) << '"';
  print(event, "result", {result});
  print(event, "sources", sources);
  print(event, "inner", inner);
  print(event, "constants", constants);
  print(event, "saved", saved);
  event << '}';
  tell(event);
}

void observeEnd(const at::Tensor &value, Policy policy, const Ending &ending,
                const Choice &choice, const at::Tensor &held) {
  std::ostringstream event;
  event << "{\"event\": \"end\", \"kept\": \"" << name(choice.kept) << "\", \"reason\": \""
        << reason(policy, ending, choice) << "\", \"held\": "
        << (held.defined() ? held.nbytes() : 0);
  print(event, "value", {value});
  event << '}';
  tell(event);
}

/// Whether a reader's node saves the argument: of readers that a recomputed value can
/// replace, `isSaved`, and of fad operators, their inputs.
static bool savesInput(const c10::OperatorName &reader) {
  for (const Operator &op : operators()) {
    std::string_view name = op.name;
    if (reader.name.substr(6) == name.substr(0, name.find('.')))
      return op.saves == Saves::Input;
  }
  return false;
}

void observeReader(const c10::OperatorName &reader, const at::Tensor &value, bool isSaved,
                   bool isRecomputed) {
  std::ostringstream event;
  event << std::boolalpha << "{\"event\": \"reader\", \"name\": \""
        << reader.name.substr(reader.name.find(':') + 2)
        << "\", \"saves\": " << (isSaved || savesInput(reader))
        << ", \"recomputed\": " << (isSaved && isRecomputed);
  print(event, "value", {value});
  event << '}';
  tell(event);
}

} // namespace fad::eager
