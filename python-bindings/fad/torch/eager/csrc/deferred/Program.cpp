//===- Program.cpp - A sequence as what a kernel computes -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Program.h"
#include "deferred/Call.h"
#include "sequence/Bits.h"
#include "sequence/Text.h"

namespace fad::eager {

/// Whether kernels compute with values of two types: all those of at most 32
/// bits as numbers of 32.
static bool areComputedAlike(c10::ScalarType a, c10::ScalarType b) {
  auto isNarrow = [](c10::ScalarType type) {
    return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
  };
  return a == b || (isNarrow(a) && isNarrow(b));
}

/// Whether sources and constants are tensors of one layout, on one device that
/// fad compiles for.
static bool hasOneLayout(const SequenceText &text) {
  const at::Tensor &first = text.sources[0].tensor;
  auto isLike = [&](const Step::Constant &other) {
    const at::Tensor &tensor = other.tensor;
    return tensor.device() == first.device() &&
           areComputedAlike(tensor.scalar_type(), first.scalar_type()) &&
           tensor.sizes().equals(first.sizes()) &&
           tensor.strides().equals(first.strides()) && isMaterial(tensor);
  };
  return hasCode(first.device()) &&
         std::all_of(text.sources.begin(), text.sources.end(), isLike) &&
         std::all_of(text.constants.begin(), text.constants.end(), isLike);
}

/// A number in a type. PyTorch rounds to 16 bits by way of 32.
static double round(double number, c10::ScalarType type) {
  auto single = static_cast<float>(number);
  switch (type) {
  case at::kHalf:
    return static_cast<at::Half>(single);
  case at::kBFloat16:
    return static_cast<at::BFloat16>(single);
  case at::kFloat:
    return single;
  default:
    return number;
  }
}

/// Whether a kernel does with the numbers what PyTorch does.
static bool hasKernelNumbers(const SequenceText &text) {
  bool isOnCPU = text.sources[0].tensor.is_cpu();
  auto isExact = [&](const SequenceText::Number &number) {
    return !isOnCPU || c10::elementSize(number.type) != 2 ||
           std::isnan(number.value) ||
           round(number.value, number.type) == number.value;
  };
  auto fits = [&](const SequenceText::Number &number) {
    return !std::isfinite(number.value) ||
           std::isfinite(round(number.value, number.type));
  };
  return std::all_of(text.halfRounded.begin(), text.halfRounded.end(),
                     isExact) &&
         std::all_of(text.bounds.begin(), text.bounds.end(), fits);
}

/// The type of sources and constants, or all of them.
static std::string printTypes(const SequenceText &text) {
  std::string types;
  bool isOne = true;
  c10::ScalarType first = text.sources[0].tensor.scalar_type();
  for (const auto *tensors : {&text.sources, &text.constants})
    for (const Step::Constant &each : *tensors) {
      isOne &= each.tensor.scalar_type() == first;
      types += (types.empty() ? "" : ",") +
               std::string(c10::toString(each.tensor.scalar_type()));
    }
  return isOne ? c10::toString(first) : types;
}

static std::shared_ptr<Program> build(const StepPtr &end, Policy policy,
                                      Values *computed,
                                      bool isOfGradients = false) {
  PlainGuard guard;
  auto program = std::make_shared<Program>();
  SequenceText text = describe(end, computed, isOfGradients);
  if (text.lines.empty() || !text.hasKernel || !hasOneLayout(text) ||
      !areComputedAlike(text.type, text.sources[0].tensor.scalar_type()) ||
      !hasKernelNumbers(text))
    return program;
  program->key = policy == Policy::Fad ? "fad " : "auto ";
  program->key += printTypes(text);
  for (size_t count :
       {text.sources.size(), text.constants.size(), text.numbers.size()})
    program->key += " " + std::to_string(count);
  if (c10::Device device = text.sources[0].tensor.device(); !device.is_cpu())
    program->key += " cuda:" + std::to_string(device.index());
  program->key += text.lines;
  program->tensors = std::move(text.sources);
  program->tensors.insert(program->tensors.end(), text.constants.begin(),
                          text.constants.end());
  program->sources = std::move(text.places);
  program->numbers = std::move(text.numbers);
  program->scalars = std::move(text.scalars);
  program->type = text.type;
  program->compiled = CompiledSequences::get().find(program->key);
  return program;
}

std::shared_ptr<Program>
getGradientProgram(const StepPtr &end, c10::ArrayRef<Source> sources,
                   const std::function<at::Tensor(const StepPtr &)> &find) {
  Values widened;
  for (const StepPtr &step : findWidened(end, sources))
    widened.emplace(step.get(), find(step));
  return widened.empty() ? getProgram(end, end->policy, /*usesComputed=*/false)
                         : build(end, end->policy, &widened,
                                 /*isOfGradients=*/true);
}

std::shared_ptr<Program> getProgram(const StepPtr &end, Policy policy,
                                    bool usesComputed) {
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
