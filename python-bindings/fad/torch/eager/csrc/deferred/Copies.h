//===- Copies.h - Copies of overwritten memory -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_COPIES_H
#define FAD_EAGER_COPIES_H

#include "deferred/LazyTensor.h"

namespace fad::eager {

/// Copies of values that sequences read in a tensor's memory, before that is
/// written to. What several of them read is copied once.
class Copies {
public:
  explicit Copies(const at::Tensor &written) : written(written) {}

  /// Lets backward run the sequence of a computed tensor on copies, if no
  /// operator has ended the sequence yet. It may then need its sources. Within
  /// a visit; what is returned goes after that.
  StepPtr keepFor(LazyTensor &lazy);

private:
  StepPtr replace(const StepPtr &end, const std::optional<c10::Stream> &stream);
  bool isWritten(const Step::Constant &input) const;
  void keep(Step::Constant &input, const std::optional<c10::Stream> &stream);

  /// A tensor, and its copy, which a stream makes and reads.
  struct Copied {
    at::Tensor tensor, copy;
    std::optional<c10::Stream> stream;
  };

  const at::Tensor &written;
  /// The steps that have been replaced, and the tensors.
  std::unordered_map<Step *, StepPtr> steps;
  std::vector<Copied> tensors;
};

} // namespace fad::eager

#endif // FAD_EAGER_COPIES_H
