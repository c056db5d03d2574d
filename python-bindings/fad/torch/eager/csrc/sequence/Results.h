//===- Results.h - Results that backward does not compute again -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CPU takes 4 to 25 times as long for a sigmoid or a hyperbolic tangent of
// float32 as for a sum; a GPU's kernels wait for memory in both. Where the
// source of a sequence is narrower, and so are the matrix products beside it,
// such an operator takes most of the time of a second run. Eager PyTorch saves
// its result.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_RESULTS_H
#define FAD_EAGER_RESULTS_H

#include "sequence/OperatorCall.h"

namespace fad::eager {

/// Notes the result of an operator of the interactive engine, if it may be kept
/// where its sequence ends.
void noteResult(const Call &call, Step &step, const at::Tensor &result);

/// Finds the results of the operators that lead to `end` which fit in so many
/// bytes, for the node that keeps them, and lets go of the others. What other
/// nodes keep counts as well.
std::vector<at::Tensor> keepResults(const StepPtr &end, int64_t bytes);

/// Where a gradient of the operand of the operator that is a derivative goes:
/// the operand is a multiple of the source.
torch::autograd::Edge leadToOperand(const Held &held,
                                    torch::autograd::Edge source,
                                    const at::Tensor &operand);

/// PyTorch's node of the operator that is a derivative, and saves its result,
/// where another node has saved that. It leads to the given source.
NodePtr makeResultNode(const Held &held, torch::autograd::Edge source,
                       const at::Tensor &result);

/// Adds the results that nodes keep, unless one was written to.
void addKeptResults(const StepPtr &end, Values &values);

/// Tensors with nodes, in the places of operators that are not run again.
class Shortcuts {
public:
  /// None without kept results. `values` are known.
  Shortcuts(const StepPtr &end, const Values &values);
  /// A result with a node that has the operator's derivative; undefined where
  /// the operator is run. Its operands, or their stand-ins, are in `arguments`.
  /// Elements that nothing reads are any.
  at::Tensor find(Step &step, const torch::jit::Stack &arguments) const;

private:
  Values kept;
  /// Steps whose elements are read.
  std::unordered_map<Step *, bool> read;
};

} // namespace fad::eager

#endif // FAD_EAGER_RESULTS_H
