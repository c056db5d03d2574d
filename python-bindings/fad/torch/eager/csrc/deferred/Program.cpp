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

/// Whether sources and constants are tensors of one type and layout, on one
/// device that fad compiles for.
static bool hasOneLayout(const SequenceText &text) {
  const at::Tensor &first = text.sources[0].tensor;
  auto isLike = [&](const Step::Constant &other) {
    const at::Tensor &tensor = other.tensor;
    return tensor.device() == first.device() &&
           tensor.scalar_type() == first.scalar_type() &&
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
  const at::Tensor &first = text.sources[0].tensor;
  auto isExact = [&](double number) {
    return std::isnan(number) || round(number, first.scalar_type()) == number;
  };
  auto fits = [&](double number) {
    return !std::isfinite(number) ||
           std::isfinite(round(number, first.scalar_type()));
  };
  return (first.itemsize() != 2 || !first.is_cpu() ||
          std::all_of(text.halfRounded.begin(), text.halfRounded.end(),
                      isExact)) &&
         std::all_of(text.bounds.begin(), text.bounds.end(), fits);
}

static std::shared_ptr<Program> build(const StepPtr &end, Policy policy,
                                      Values *computed) {
  PlainGuard guard;
  auto program = std::make_shared<Program>();
  SequenceText text = describe(end, computed);
  if (text.lines.empty() || !text.hasKernel || !hasOneLayout(text) ||
      !hasKernelNumbers(text))
    return program;
  program->key = policy == Policy::Fad ? "fad " : "auto ";
  program->key += c10::toString(text.sources[0].tensor.scalar_type());
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
  program->compiled = CompiledSequences::get().find(program->key);
  return program;
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
