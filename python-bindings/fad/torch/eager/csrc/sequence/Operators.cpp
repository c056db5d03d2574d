//===- Operators.cpp - The operators that sequences consist of ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Operators.h"
#include "sequence/Readers.h"
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/operator_name.h>
#include <ATen/native/TypeProperties.h>
#include <algorithm>
#include <optional>
#include <unordered_map>

namespace fad::eager {

static constexpr Operator table[] = {
#define FAD_OPERATOR(name, form, kind, saves, slope, numbers)                  \
  {name, Form::form, Kind::kind, Saves::saves, Slope::slope, Numbers::numbers},
#include "sequence/Operators.inc"
};

c10::ArrayRef<Operator> operators() { return table; }

c10::ArrayRef<InPlaceOperator> inPlaceOperators() {
  static constexpr InPlaceOperator names[] = {
#define FAD_IN_PLACE(name, saves) {name, Saves::saves},
#include "sequence/Operators.inc"
  };
  return names;
}

bool isInPlaceOperator(const c10::OperatorName &name) {
  auto all = inPlaceOperators();
  return name.overload_name.empty() &&
         std::any_of(all.begin(), all.end(), [&](const InPlaceOperator &each) {
           return name.name == std::string("aten::") + each.name + "_";
         });
}

bool isKernelExponent(double value) {
  static constexpr double all[] = {
#define FAD_EXPONENT(value) value,
#include "sequence/Operators.inc"
  };
  return std::find(std::begin(all), std::end(all), value) != std::end(all);
}

c10::OperatorHandle findHandle(const char *name) {
  std::string text = std::string("aten::") + name;
  size_t dot = text.find('.');
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      text.substr(0, dot).c_str(),
      dot == std::string::npos ? "" : text.substr(dot + 1).c_str());
}

const Operator *findOperator(const c10::OperatorHandle &op) {
  static const auto all = [] {
    std::unordered_map<c10::OperatorHandle, const Operator *> all;
    for (const Operator &each : table)
      all.emplace(findHandle(each.name), &each);
    return all;
  }();
  auto found = all.find(op);
  return found == all.end() ? nullptr : found->second;
}

/// The number that a tensor is made of.
static double unwrap(const at::Tensor &tensor) {
  // `item()` calls the dispatcher twice, for what are mostly numbers of Python.
  if (tensor.is_cpu() && tensor.scalar_type() == at::kDouble)
    return *tensor.const_data_ptr<double>();
  if (tensor.is_cpu() && tensor.scalar_type() == at::kLong)
    return static_cast<double>(*tensor.const_data_ptr<int64_t>());
  return tensor.item().toDouble();
}

/// A number of Python or C++, also where PyTorch has made a tensor of it.
static std::optional<double> number(const c10::IValue &value) {
  if (value.isDouble() || value.isInt())
    return value.toScalar().toDouble();
  if (value.isTensor() && value.toTensor().defined() &&
      value.toTensor().unsafeGetTensorImpl()->is_wrapped_number() &&
      !value.toTensor().is_complex())
    return unwrap(value.toTensor());
  return std::nullopt;
}

/// The type to which `aten::_to_copy` converts, if it does nothing else.
static c10::ScalarType findCast(c10::ArrayRef<c10::IValue> arguments) {
  // self, dtype, layout, device, pin_memory, non_blocking, memory_format
  const at::Tensor &self = arguments[0].toTensor();
  const c10::IValue &type = arguments[1], &format = arguments[6];
  bool isCast =
      !type.isNone() && arguments[2].isNone() &&
      (arguments[3].isNone() || arguments[3].toDevice() == self.device()) &&
      (arguments[4].isNone() || !arguments[4].toBool()) &&
      (format.isNone() ||
       format.toMemoryFormat() == at::MemoryFormat::Preserve);
  return isCast && at::isFloatingType(type.toScalarType()) &&
                 type.toScalarType() != self.scalar_type()
             ? type.toScalarType()
             : c10::ScalarType::Undefined;
}

c10::ScalarType findType(const Operator &op,
                         c10::ArrayRef<c10::IValue> arguments) {
  if (op.form == Form::Cast)
    return findCast(arguments);
  if (op.form == Form::Normalize)
    return arguments[0].toTensor().scalar_type();
  at::native::ResultTypeState state = {};
  for (const c10::IValue &argument : arguments)
    if (argument.isTensor() && argument.toTensor().defined())
      state = at::native::update_result_type_state(argument.toTensor(), state);
  return at::native::result_type(state);
}

Use classify(const Operator &op, c10::ArrayRef<c10::IValue> arguments,
             c10::ArrayRef<size_t> positions) {
  Use use = {op.kind, {1, 1}, op.saves};
  auto alpha = [&] {
    return arguments.size() > 2 ? arguments[2].toScalar().toDouble() : 1;
  };
  switch (op.form) {
  case Form::Cast:
  case Form::Normalize:
    break;
  case Form::Unary:
    if (op.kind == Kind::Linear)
      use.factors[0] = -1;
    break;
  case Form::Add:
  case Form::Subtract:
    for (size_t i = 0; i < positions.size(); ++i)
      if (positions[i] == 1)
        use.factors[i] = op.form == Form::Add ? alpha() : -alpha();
    break;
  case Form::Reverse:
    use.factors[0] = -alpha();
    break;
  case Form::Multiply:
  case Form::Divide:
    if (positions.size() != 1)
      break;
    use.kind = Kind::Nonlinear;
    if (op.form == Form::Divide && positions[0] != 0)
      break;
    use.saves = Saves::Constant;
    if (auto other = number(arguments[1 - positions[0]])) {
      use.kind = Kind::Linear;
      use.factors[0] = op.form == Form::Multiply ? *other : 1 / *other;
    }
    break;
  }
  if (use.kind == Kind::Linear)
    use.saves = Saves::Nothing;
  return use;
}

bool Reader::saves(size_t position,
                   c10::ArrayRef<c10::IValue> arguments) const {
  return std::any_of(saved.begin(), saved.end(), [&](const Saved &each) {
    const c10::IValue &other = arguments[each.other];
    return each.position == position && other.isTensor() &&
           other.toTensor().defined() && other.toTensor().requires_grad();
  });
}

const Reader &findReader(const c10::OperatorHandle &op) {
  static const std::unordered_map<std::string, Reader> named = {
      {"aten::view", {{}, true}},      {"aten::_reshape_alias", {{}, true}},
      {"aten::transpose", {{}, true}}, {"aten::t", {{}, true}},
      {"aten::permute", {{}, true}},   {"aten::squeeze", {{}, true}},
      {"aten::unsqueeze", {{}, true}},
#define FAD_SAVED(position, member, other) Reader::Saved{position, other},
#define FAD_READER(name, type, saved) {"aten::" name, {{saved}, false}},
      FAD_READERS(FAD_READER, FAD_SAVED)
#undef FAD_READER
#undef FAD_SAVED
  };
  // Of all overloads. Names are strings, which take longer to find than the
  // rest of the work for a reader; PyTorch's own operators stay.
  static const auto all = [] {
    std::unordered_map<c10::OperatorHandle, const Reader *> all;
    auto &dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName &name : dispatcher.getAllOpNames())
      if (auto found = named.find(name.name); found != named.end())
        if (auto op = dispatcher.findOp(name))
          all.emplace(*op, &found->second);
    return all;
  }();
  static const Reader other;
  auto found = all.find(op);
  return found == all.end() ? other : *found->second;
}

} // namespace fad::eager
