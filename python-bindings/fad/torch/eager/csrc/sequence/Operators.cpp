//===- Operators.cpp - The operators that sequences consist of ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Operators.h"
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/operator_name.h>
#include <optional>
#include <unordered_map>

namespace fad::eager {

static constexpr Operator table[] = {
    {"add.Tensor", Form::Add, Kind::Linear, Saves::Nothing},
    {"add.Scalar", Form::Add, Kind::Linear, Saves::Nothing},
    {"sub.Tensor", Form::Subtract, Kind::Linear, Saves::Nothing},
    {"sub.Scalar", Form::Subtract, Kind::Linear, Saves::Nothing},
    {"rsub.Scalar", Form::Reverse, Kind::Linear, Saves::Nothing},
    {"neg", Form::Unary, Kind::Linear, Saves::Nothing},
    {"mul.Tensor", Form::Multiply, Kind::Product, Saves::Input},
    {"mul.Scalar", Form::Multiply, Kind::Linear, Saves::Nothing},
    {"div.Tensor", Form::Divide, Kind::Nonlinear, Saves::Input},
    {"div.Scalar", Form::Divide, Kind::Linear, Saves::Nothing},
    {"relu", Form::Unary, Kind::Piecewise, Saves::Result},
    {"abs", Form::Unary, Kind::Piecewise, Saves::Input},
    {"leaky_relu", Form::Unary, Kind::Piecewise, Saves::Input},
    {"hardtanh", Form::Unary, Kind::Piecewise, Saves::Input},
    {"clamp", Form::Unary, Kind::Piecewise, Saves::Input},
    {"clamp_min", Form::Unary, Kind::Piecewise, Saves::Input},
    {"clamp_max", Form::Unary, Kind::Piecewise, Saves::Input},
    {"tanh", Form::Unary, Kind::Nonlinear, Saves::Result, Slope::Tanh},
    {"sigmoid", Form::Unary, Kind::Nonlinear, Saves::Result, Slope::Sigmoid},
    {"exp", Form::Unary, Kind::Nonlinear, Saves::Result, Slope::Exp},
    {"expm1", Form::Unary, Kind::Nonlinear, Saves::Result},
    {"sqrt", Form::Unary, Kind::Nonlinear, Saves::Result},
    {"rsqrt", Form::Unary, Kind::Nonlinear, Saves::Result},
    {"reciprocal", Form::Unary, Kind::Nonlinear, Saves::Result},
    {"tan", Form::Unary, Kind::Nonlinear, Saves::Result},
    {"log", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"log1p", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"sin", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"cos", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"erf", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"silu", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"gelu", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"mish", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"elu", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"softplus", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"hardsigmoid", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"hardswish", Form::Unary, Kind::Nonlinear, Saves::Input},
    {"pow.Tensor_Scalar", Form::Unary, Kind::Nonlinear, Saves::Input},
};

c10::ArrayRef<Operator> operators() { return table; }

c10::ArrayRef<const char *> inPlaceOperators() {
  static constexpr const char *names[] = {
      "silu",     "gelu",  "mish",      "hardswish", "hardsigmoid",
      "hardtanh", "clamp", "clamp_min", "clamp_max"};
  return names;
}

c10::ArrayRef<const char *> inPlaceOperatorsOfResults() {
  static constexpr const char *names[] = {"relu", "leaky_relu", "elu",
                                          "celu", "sigmoid",    "tanh"};
  return names;
}

bool isInPlaceOperator(const c10::OperatorName &name) {
  auto isIn = [&](c10::ArrayRef<const char *> names) {
    return std::any_of(names.begin(), names.end(), [&](const char *each) {
      return name.name == std::string("aten::") + each + "_";
    });
  };
  return name.overload_name.empty() &&
         (isIn(inPlaceOperators()) || isIn(inPlaceOperatorsOfResults()));
}

const Operator *findOperator(const c10::OperatorName &name) {
  static const auto *all = [] {
    auto *all = new std::unordered_map<std::string, const Operator *>();
    for (const Operator &op : table)
      all->emplace(std::string("aten::") + op.name, &op);
    return all;
  }();
  auto found = all->find(c10::toString(name));
  return found == all->end() ? nullptr : found->second;
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

Use classify(const Operator &op, c10::ArrayRef<c10::IValue> arguments,
             c10::ArrayRef<size_t> positions) {
  Use use = {op.kind, {1, 1}, op.saves};
  auto alpha = [&] {
    return arguments.size() > 2 ? arguments[2].toScalar().toDouble() : 1;
  };
  switch (op.form) {
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

const Reader &findReader(const c10::OperatorHandle &op) {
  static const std::unordered_map<std::string, Reader> named = {
      {"aten::addmm", {6, false}},
      {"aten::mm", {3, false}},
      {"aten::bmm", {3, false}},
      {"aten::baddbmm", {6, false}},
      {"aten::linear", {1, false}},
      {"aten::convolution", {1, false}},
      {"aten::native_layer_norm", {1, false}},
      {"aten::view", {0, true}},
      {"aten::_unsafe_view", {0, true}},
      {"aten::transpose", {0, true}},
      {"aten::t", {0, true}},
      {"aten::permute", {0, true}},
      {"aten::squeeze", {0, true}},
      {"aten::unsqueeze", {0, true}},
      {"aten::_reshape_alias", {0, true}},
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
