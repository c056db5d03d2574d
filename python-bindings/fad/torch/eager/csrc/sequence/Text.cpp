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

  bool add(Step &step);
  bool addArgument(const Step &step, size_t position, const c10::IValue &value);
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
}

static bool isSum(const std::string &name) {
  return name == "aten::add" || name == "aten::sub" || name == "aten::rsub";
}

/// Whether a number is a part of the key: another one makes another function.
static bool isStructural(const c10::OperatorHandle &op, size_t position,
                         double value) {
  const std::string &name = op.operator_name().name;
  // The third of a sum is what its second operand is multiplied by.
  return (isSum(name) && position == 2 && value == 1) || name == "aten::pow";
}

/// See `SequenceText::halfRounded`: what a sum multiplies its second operand
/// by, and the first factor.
static bool isHalfRounded(const c10::OperatorHandle &op, size_t position) {
  return op.operator_name().name == "aten::mul" ? position == 0 : position == 2;
}

/// Whether all numbers of an operator are bounds.
static bool hasBounds(const c10::OperatorHandle &op) {
  const std::string &name = op.operator_name().name;
  return name.rfind("aten::clamp", 0) == 0 || name == "aten::hardtanh";
}

/// Whether an operator is one of arithmetic.
static bool isArithmetic(const c10::OperatorHandle &op) {
  const std::string &name = op.operator_name().name;
  return isSum(name) || name == "aten::mul" || name == "aten::div";
}

static bool isExponent(double value) {
  return value == 1 || value == 2 || value == 3 || value == 4 || value == -1 ||
         value == 0.5 || value == -0.5;
}

bool Builder::addArgument(const Step &step, size_t position,
                          const c10::IValue &value) {
  auto &arguments = operators.back().second;
  auto literal = [&](std::string text) {
    arguments.push_back({"=" + text, {}});
  };
  auto number = [&](double value) {
    if (isStructural(*step.op, position, value)) {
      if (step.op->operator_name().name == "aten::pow")
        hasKernel &= isExponent(value);
      std::ostringstream text;
      text << std::setprecision(17) << value;
      literal(text.str());
      return true;
    }
    arguments.push_back({"$" + std::to_string(numbers.size()), {}});
    numbers.push_back(value);
    if (hasBounds(*step.op))
      bounds.push_back(value);
    if (isArithmetic(*step.op) && isHalfRounded(*step.op, position))
      halfRounded.push_back(value);
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
  const c10::OperatorName &name = step.op->operator_name();
  operators.push_back(
      {name.name.substr(6) +
           (name.overload_name.empty() ? "" : "." + name.overload_name),
       {}});
  for (size_t i = 0; i < step.arguments.size(); ++i)
    if (!addArgument(step, i, step.arguments[i]))
      return false;
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

SequenceText describe(const StepPtr &end, Values *computed) {
  Builder builder;
  for (Step *step : order(end, computed)) {
    auto found = computed ? computed->find(step) : Values::iterator();
    if (computed && found != computed->end()) {
      const at::Tensor &value = found->second;
      builder.addSource(*step, {value, static_cast<uint32_t>(value._version())},
                        {step, UINT32_MAX});
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
