//===- Own.h - PyTorch's own nodes of deferred operators --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eager PyTorch saves a tensor once, however many operators save it. A
// derivative takes the place of saved tensors, and so it may do of those alone
// that no other value's derivative needs. Where they take fewer bytes, the
// operators leave their own nodes, which begin at the values that others need.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_OWN_H
#define FAD_EAGER_OWN_H

#include "deferred/LazyTensor.h"

namespace fad::eager {

/// The values between the end of a sequence and the values, or the sources, at
/// which it could begin.
class Stretch {
public:
  /// `end` are the operators that lead to the value of `node`.
  Stretch(SequenceNode &node, const StepPtr &end);
  /// Nodes of values that something else needs, or keeps something for, in the
  /// order of their operators.
  const std::vector<SequenceNode *> &shared() const { return cuts; }
  /// Bytes of the values that eager PyTorch saves for operators of the stretch
  /// alone.
  int64_t saved() const { return bytes; }

private:
  std::vector<SequenceNode *> cuts;
  int64_t bytes = 0;
};

/// The own node of the one operator of a sequence that is not linear, if that
/// of another sequence has it; or null.
NodePtr findSharedOwn(const StepPtr &step, const SequenceNode &node);

/// Runs the operators of a sequence, of which one is not linear. The own node
/// of that remains: it becomes that of the tensor, or the sequence's node holds
/// it.
at::Tensor runOwn(const StepPtr &step, LazyTensor &tensor, Value &value,
                  const Originals &originals);

/// Runs the operators of a sequence from the values that others need. Their own
/// nodes remain, to which the sequence's node leads: as in eager PyTorch.
at::Tensor runAllOwn(const StepPtr &step, Value &value,
                     const Originals &originals);

} // namespace fad::eager

#endif // FAD_EAGER_OWN_H
