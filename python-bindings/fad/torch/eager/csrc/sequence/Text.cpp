//===- Text.cpp - A sequence as a text ------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Text.h"
#include <iomanip>
#include <sstream>

namespace fad::eager {

namespace {
/// Collects a text step by step. Sources and constants have numbers of their
/// own kinds, and are told apart at the end.
struct Builder : SequenceText {
  enum class Kind : char { Source = 's', Constant = 'c', Result = 'r' };
  struct Slot {
    Kind kind;
    size_t number;
  };

  /// Operators' names and arguments; slots are filled in at the end.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Slot>>>>
      operators;
  std::unordered_map<Step *, Slot> slots;
  std::unordered_map<Step *, c10::ScalarType> types;

  bool add(Step &step);
  c10::ScalarType findType(const Step &step, const Operator &op);
  bool addArgument(const Step &step, const Operator &op, size_t position,
                   const c10::IValue &value);
  void print();
  void addSource(Step &step, const Step::Constant &value, Source place);
};
} // namespace

void Builder::addSource(Step &step, const Step::Constant &value, Source place) {
  size_t i = 0;
  while (i < sources.size() &&
         !(places[i] == place && sources[i].version == value.version &&
           isSame(sources[i].tensor, value.tensor)))
    ++i;
  if (i == sources.size()) {
    sources.push_back(value);
    places.push_back(place);
  }
  slots[&step] = {Kind::Source, i};
  types[&step] = type = value.tensor.scalar_type();
}

/// The type of an operator's result: that of a cast, or the widest of tensors,
/// of which those without dimensions count where all are. Constants without
/// dimensions are numbers of a kernel, which have no part in its types.
c10::ScalarType Builder::findType(const Step &step, const Operator &op) {
  if (op.form == Form::Cast)
    return step.arguments[1].toScalarType();
  c10::ScalarType found = types.at(step.operands[0].second.get());
  for (auto &[position, operand] : step.operands)
    found = c10::promoteTypes(found, types.at(operand.get()));
  for (const Step::Constant &constant : step.constants) {
    const at::Tensor &tensor = constant.tensor;
    if (!tensor.dim() && sources[0].tensor.dim())
      continue;
    c10::ScalarType wide = c10::promoteTypes(found, tensor.scalar_type());
    hasKernel &= tensor.dim() || wide == found;
    found = wide;
  }
  return found;
}

/// Whether a number is a part of the key: another one makes another function.
static bool isStructural(const Operator &op, size_t position, double value) {
  return (op.isSum() && position == 2 && value == 1) ||
         op.numbers == Numbers::Exponent;
}

/// See `SequenceText::halfRounded`: what a sum multiplies its second operand
/// by, and the first factor.
static bool isHalfRounded(const Operator &op, size_t position) {
  if (op.form == Form::Multiply)
    return position == 0;
  return op.form != Form::Unary && position == 2;
}

bool Builder::addArgument(const Step &step, const Operator &op, size_t position,
                          const c10::IValue &value) {
  auto &arguments = operators.back().second;
  auto literal = [&](std::string text) {
    arguments.push_back({"=" + text, {}});
  };
  auto number = [&](double value) {
    if (isStructural(op, position, value)) {
      if (op.numbers == Numbers::Exponent)
        hasKernel &= isKernelExponent(value);
      std::ostringstream text;
      text << std::setprecision(17) << value;
      literal(text.str());
      return true;
    }
    arguments.push_back({"$" + std::to_string(numbers.size()), {}});
    numbers.push_back(value);
    if (op.numbers == Numbers::Bounds)
      bounds.push_back({value, type});
    if (isHalfRounded(op, position))
      halfRounded.push_back({value, type});
    return true;
  };
  for (auto &[place, operand] : step.operands)
    if (place == position) {
      arguments.push_back({"", slots.at(operand.get())});
      return true;
    }
  if (value.isTensor() && value.toTensor().defined()) {
    const at::Tensor &tensor = value.toTensor();
    // A number on a device is not read: that would wait for the device.
    if (tensor.is_complex() || (!tensor.dim() && !tensor.device().is_cpu()))
      return false;
    for (const Step::Constant &constant : step.constants)
      if (constant.tensor.is_same(tensor)) {
        if (!tensor.dim()) {
          scalars.push_back(constant);
          break;
        }
        arguments.push_back({"", {Kind::Constant, constants.size()}});
        constants.push_back(constant);
        return true;
      }
    return !tensor.dim() && number(tensor.item().toDouble());
  }
  if (value.isDouble() || value.isInt())
    return number(value.toScalar().toDouble());
  if (value.isBool())
    literal(value.toBool() ? "true" : "false");
  else if (value.isString())
    literal(value.toStringRef());
  else if (value.isNone() || value.isTensor())
    literal("none");
  else
    return false;
  return true;
}

bool Builder::add(Step &step) {
  const Operator *found = findOperator(*step.op);
  // A view, or a function of rows.
  if (!found || found->form == Form::Normalize)
    return false;
  const Operator &op = *found;
  types[&step] = type = findType(step, op);
  for (auto &[position, operand] : step.operands)
    hasKernel &=
        (types.at(operand.get()) == at::kDouble) == (type == at::kDouble);
  operators.push_back({op.name, {}});
  size_t count = op.form == Form::Cast ? 1 : step.arguments.size();
  for (size_t i = 0; i < count; ++i)
    if (!addArgument(step, op, i, step.arguments[i]))
      return false;
  if (op.form == Form::Cast)
    operators.back().second.push_back(
        {std::string("=") + c10::toString(type), {}});
  slots[&step] = {Kind::Result, operators.size() - 1};
  return true;
}

void Builder::print() {
  for (const auto &[name, arguments] : operators) {
    lines += "\n" + name;
    for (const auto &[text, slot] : arguments) {
      size_t number = slot.number;
      if (text.empty() && slot.kind != Kind::Source)
        number +=
            sources.size() + (slot.kind == Kind::Result ? constants.size() : 0);
      lines += " " + (text.empty() ? "%" + std::to_string(number) : text);
    }
  }
}

SequenceText describe(const StepPtr &end, Values *computed,
                      bool isOfGradients) {
  Builder builder;
  for (Step *step : order(end, computed, !isOfGradients)) {
    auto found = computed ? computed->find(step) : Values::iterator();
    if (computed && found != computed->end()) {
      const at::Tensor &value = found->second;
      builder.addSource(*step, {value, static_cast<uint32_t>(value._version())},
                        isOfGradients ? step->source
                                      : Source{step, UINT32_MAX});
    } else if (!step->op) {
      builder.addSource(*step, step->value, step->source);
    } else if (!builder.add(*step)) {
      return {};
    }
  }
  builder.print();
  return std::move(builder);
}

} // namespace fad::eager
