//===- OwnNode.h - PyTorch's own node of an operator ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_OWNNODE_H
#define FAD_EAGER_OWNNODE_H

#include "sequence/Value.h"

namespace fad::eager {

/// The products of a gradient and the derivatives of an operator of PyTorch, by
/// its operands. During backward, `needed` leads to a node that backward will
/// run.
///
/// With a graph for second derivatives, what the operator saved of its result
/// leads to the operator's node again. In that graph another node stands for
/// it: autograd releases what a node has saved when it has run, and the
/// sequence's node may run later in the same backward.
torch::autograd::variable_list
callOwnParts(const NodePtr &own, const at::Tensor &gradient,
             const torch::autograd::Edge &needed);
/// Their sum, where all operands are the source.
at::Tensor callOwn(const NodePtr &own, const at::Tensor &gradient,
                   const torch::autograd::Edge &needed = {});

/// The derivative that an operator has, whose node is `own`, as a tensor like
/// the value.
at::Tensor deriveOperator(const at::Tensor &value, const Held &held,
                          const NodePtr &own);

} // namespace fad::eager

#endif // FAD_EAGER_OWNNODE_H
