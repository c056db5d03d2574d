//===- Program.h - A sequence as what a kernel computes --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_PROGRAM_H
#define FAD_EAGER_PROGRAM_H

#include "deferred/CompiledSequences.h"
#include "sequence/Steps.h"

namespace fad::eager {

/// Inputs of kernels from a sequence. The key has the policy, the type, or one
/// for each source and constant, and how many sources, constants and numbers
/// there are, as in `auto Float 1 0 2` or `auto Half,Float 1 1 0`, and the
/// operators (see `SequenceText`). On a GPU, it also has the device, as in
/// `auto Float 1 0 2 cuda:0`.
struct Program {
  std::string key;
  /// The sources, and then the constants, with the versions that they had.
  std::vector<Step::Constant> tensors;
  /// The sources' places in the graph of backward.
  std::vector<Source> sources;
  std::vector<double> numbers;
  /// The tensors without dimensions that some of the numbers come from.
  std::vector<Step::Constant> scalars;
  /// The type of the value.
  c10::ScalarType type = c10::ScalarType::Undefined;
  /// Where the kernels are, or null if the sequence can have none.
  CompiledSequence *compiled = nullptr;

  bool isReady() const {
    return compiled && compiled->isReady.load(std::memory_order_acquire);
  }
};

/// The program of a sequence. Where `usesComputed`, values that tensors have
/// are sources.
std::shared_ptr<Program> getProgram(const StepPtr &end, Policy policy,
                                    bool usesComputed);
/// That of the gradients of `sources`, where `find` returns what stands for the
/// results of casts to wider types that are among these.
std::shared_ptr<Program>
getGradientProgram(const StepPtr &end, c10::ArrayRef<Source> sources,
                   const std::function<at::Tensor(const StepPtr &)> &find);

} // namespace fad::eager

#endif // FAD_EAGER_PROGRAM_H
