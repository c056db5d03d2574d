//===- Fused.cpp - Sequences by one kernel --------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Fused.h"
#include "sequence/Bits.h"
#include "sequence/ReadMemory.h"
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>

namespace fad::eager {

/// The arguments of a program: its tensors, and then its numbers. Fails where a
/// tensor was written to after the sequence was recorded.
static Arguments read(Program &program) {
  Arguments arguments;
  for (const Step::Constant &scalar : program.scalars)
    checkVersion(scalar);
  for (const Step::Constant &constant : program.tensors) {
    checkVersion(constant);
    arguments.push_back({&constant.tensor, nullptr, getMemory(constant)});
  }
  for (double &number : program.numbers)
    arguments.push_back({nullptr, &number});
  return arguments;
}

/// Kernels round otherwise than operators one by one, and when they are there
/// differs between runs: where a program asks for the same digits in each, none
/// is called.
static bool mayCall() { return !at::globalContext().deterministicAlgorithms(); }

static bool isReady(const std::shared_ptr<Program> &program) {
  return mayCall() && program->isReady();
}

/// Counts a sighting, after which kernels are asked for.
static void see(const Program &program) {
  if (mayCall() && program.compiled)
    CompiledSequences::get().see(program.key, *program.compiled);
}

at::Tensor computeFused(const StepPtr &end, bool isForward) {
  auto program = getProgram(end, end->policy, /*usesComputed=*/true);
  if (!isReady(program)) {
    if (isForward)
      see(*program);
    return {};
  }
  return call(program->compiled->value, read(*program),
              program->tensors[0].tensor, program->type)[0];
}

std::pair<at::Tensor, at::Tensor> deriveFused(const StepPtr &end) {
  auto program = getProgram(end, end->policy, /*usesComputed=*/false);
  if (!isReady(program) || !program->compiled->derivative)
    return {};
  auto found = call(program->compiled->derivative, read(*program),
                    program->tensors[0].tensor, {program->type, program->type});
  return {found[0], found[1]};
}

/// As `getGradientProgram`. Forward does not meet it where casts are sources,
/// or where the sequence has come to begin elsewhere.
template <typename Find>
static std::shared_ptr<Program>
findGradients(const StepPtr &end, c10::ArrayRef<Source> sources, Find find) {
  auto program = getGradientProgram(end, sources, find);
  if ((end->isWide || end->isMoved) && !isReady(program))
    see(*program);
  return program;
}

std::vector<at::Tensor> pullFused(const StepPtr &end,
                                  const at::Tensor &gradient,
                                  c10::ArrayRef<Source> sources) {
  // Operators compute a result of a cast no slower than a kernel.
  auto program = findGradients(
      end, sources, [](const StepPtr &step) { return eager::compute(step); });
  if (!isReady(program) || !program->compiled->gradient)
    return {};
  Arguments arguments = read(*program);
  const at::Tensor &like = program->tensors[0].tensor;
  if (!isPlain(gradient) || gradient.scalar_type() != program->type ||
      !gradient.sizes().equals(like.sizes()) ||
      gradient.device() != like.device() || gradient.layout() != at::kStrided)
    return {};
  at::AutoGradMode off(false);
  at::Tensor dense = gradient;
  if (!gradient.strides().equals(like.strides()) || !isMaterial(gradient))
    dense = at::empty_strided(like.sizes(), like.strides(), gradient.options())
                .copy_(gradient);
  // Values of the gradient, in the order of its residuals, which may have
  // a number before a tensor.
  Arguments used;
  for (int64_t argument : program->compiled->gradientArguments)
    used.push_back(arguments[static_cast<size_t>(argument)]);
  used.push_back({&dense, nullptr});
  c10::SmallVector<c10::ScalarType, 4> types;
  for (size_t i = 0; i < program->sources.size(); ++i)
    types.push_back(program->tensors[i].tensor.scalar_type());
  auto found = call(program->compiled->gradient, used, dense, types);
  std::vector<at::Tensor> all(sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    for (size_t k = 0; k < found.size(); ++k)
      if (program->sources[k] == sources[i])
        all[i] = all[i].defined() ? all[i] + found[k] : found[k];
  return all;
}

bool hasKernel(const StepPtr &end) {
  if (!mayCall())
    return false;
  auto program = getProgram(end, end->policy, /*usesComputed=*/false);
  return program->compiled && !program->compiled->isImpossible;
}

namespace {
struct Kernels final : SequenceKernels {
  at::Tensor compute(const StepPtr &end) const override {
    return computeFused(end);
  }
  std::vector<at::Tensor> pull(const StepPtr &end, const at::Tensor &gradient,
                               c10::ArrayRef<Source> sources) const override {
    return pullFused(end, gradient, sources);
  }
  bool hasGradients(const StepPtr &end,
                    c10::ArrayRef<Source> sources) const override {
    auto program = findGradients(
        end, sources, [](const StepPtr &step) { return step->value.tensor; });
    return isReady(program) && program->compiled->gradient;
  }
};
} // namespace

const SequenceKernels &kernelsOfSequences() {
  static const Kernels kernels;
  return kernels;
}

} // namespace fad::eager
