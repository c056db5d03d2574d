//===- Program.cpp - A sequence as what a kernel computes -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Program.h"
#include <ATen/ops/empty.h>
#include <unordered_map>

namespace fad::eager {

namespace {
/// Collects a program step by step. Sources and constants have numbers of their own kinds,
/// and are told apart in the key at the end.
struct Builder {
  enum class Kind : char { Source = 's', Constant = 'c', Result = 'r' };
  struct Slot {
    Kind kind;
    size_t number;
  };

  std::vector<Step::Constant> sources, constants, scalars;
  std::vector<Source> places;
  std::vector<double> numbers;
  /// Lines of an operator's name and its arguments; slots are filled in at the end.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Slot>>>> lines;
  std::unordered_map<Step *, Slot> slots;

  bool add(Step &step);
  bool addArgument(const Step &step, size_t position, const c10::IValue &value);
  std::string print(Policy policy) const;
  bool hasOneLayout() const;
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

/// Whether a number is a part of the key: another one makes another function.
static bool isStructural(const c10::OperatorHandle &op, size_t position, double value) {
  const std::string &name = op.operator_name().name;
  // The third of a sum is what its second operand is multiplied by.
  bool isSum = name == "aten::add" || name == "aten::sub" || name == "aten::rsub";
  return (isSum && position == 2 && value == 1) || name == "aten::pow";
}

static bool isExponent(double value) {
  return value == 1 || value == 2 || value == 3 || value == 4 || value == -1 || value == 0.5 ||
         value == -0.5;
}

bool Builder::addArgument(const Step &step, size_t position, const c10::IValue &value) {
  auto &arguments = lines.back().second;
  auto literal = [&](std::string text) { arguments.push_back({"=" + text, {}}); };
  auto number = [&](double value) {
    if (isStructural(*step.op, position, value)) {
      if (step.op->operator_name().name == "aten::pow" && !isExponent(value))
        return false;
      std::string text = std::to_string(value);
      literal(text);
      return true;
    }
    arguments.push_back({"$" + std::to_string(numbers.size()), {}});
    numbers.push_back(value);
    return true;
  };
  for (auto &[place, operand] : step.operands)
    if (place == position) {
      arguments.push_back({"", slots.at(operand.get())});
      return true;
    }
  if (value.isTensor() && value.toTensor().defined()) {
    const at::Tensor &tensor = value.toTensor();
    if (!tensor.device().is_cpu() || tensor.is_complex())
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
  lines.push_back(
      {name.name.substr(6) + (name.overload_name.empty() ? "" : "." + name.overload_name), {}});
  for (size_t i = 0; i < step.arguments.size(); ++i)
    if (!addArgument(step, i, step.arguments[i]))
      return false;
  slots[&step] = {Kind::Result, lines.size() - 1};
  return true;
}

bool Builder::hasOneLayout() const {
  const at::Tensor &first = sources[0].tensor;
  auto isLike = [&](const Step::Constant &other) {
    const at::Tensor &tensor = other.tensor;
    return tensor.device().is_cpu() && tensor.scalar_type() == first.scalar_type() &&
           tensor.sizes().equals(first.sizes()) && tensor.strides().equals(first.strides()) &&
           !tensor.is_neg();
  };
  return std::all_of(sources.begin(), sources.end(), isLike) &&
         std::all_of(constants.begin(), constants.end(), isLike);
}

std::string Builder::print(Policy policy) const {
  std::string key = policy == Policy::Fad ? "fad " : "auto ";
  key += c10::toString(sources[0].tensor.scalar_type());
  for (size_t count : {sources.size(), constants.size(), numbers.size()})
    key += " " + std::to_string(count);
  for (const auto &[name, arguments] : lines) {
    key += "\n" + name;
    for (const auto &[text, slot] : arguments) {
      size_t number = slot.number;
      if (text.empty() && slot.kind != Kind::Source)
        number += sources.size() + (slot.kind == Kind::Result ? constants.size() : 0);
      key += " " + (text.empty() ? "%" + std::to_string(number) : text);
    }
  }
  return key;
}

static std::shared_ptr<Program> build(const StepPtr &end, Policy policy, Values *computed) {
  PlainGuard guard;
  auto program = std::make_shared<Program>();
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
      return program;
    }
  }
  if (!builder.hasOneLayout())
    return program;
  program->key = builder.print(policy);
  program->tensors = std::move(builder.sources);
  program->tensors.insert(program->tensors.end(), builder.constants.begin(),
                          builder.constants.end());
  program->sources = std::move(builder.places);
  program->numbers = std::move(builder.numbers);
  program->scalars = std::move(builder.scalars);
  program->compiled = CompiledSequences::get().find(program->key);
  return program;
}

std::shared_ptr<Program> getProgram(const StepPtr &end, Policy policy, bool usesComputed) {
  if (usesComputed) {
    Values computed;
    auto program = build(end, policy, &computed);
    if (!computed.empty())
      return program;
  }
  std::lock_guard<std::mutex> lock(end->access);
  if (!end->program)
    end->program = build(end, policy, nullptr);
  return end->program;
}

} // namespace fad::eager
