//===- Copies.h - Copies of overwritten memory -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_COPIES_H
#define FAD_EAGER_COPIES_H

#include "sequence/Steps.h"

namespace fad::eager {

/// Copies of what sequences read in memory that an operator writes to, made
/// before the operator runs. What several of them read is copied once. A
/// sequence reads the copy from then on if the write was one that PyTorch
/// counts, or a silent one: others change what eager PyTorch saves, too.
class Copies {
public:
  /// Before a tensor is written to.
  void make(const at::Tensor &written);
  /// After it was, where the operator has not failed.
  void put();

private:
  struct Copied {
    at::Tensor tensor, copy;
    std::optional<c10::Stream> stream;
  };
  at::Tensor copyOf(const at::Tensor &tensor,
                    const std::optional<c10::Stream> &stream);

  std::vector<Copied> copies;
  /// A source or a constant of a step, and the place of its copy.
  struct Reading {
    StepPtr step;
    const Step::Constant *input;
    at::Tensor copy;
  };
  std::vector<Reading> readings;
  /// Other threads may look at versions while they change: their owners stay.
  std::vector<at::Tensor> owners;
};

} // namespace fad::eager

#endif // FAD_EAGER_COPIES_H
