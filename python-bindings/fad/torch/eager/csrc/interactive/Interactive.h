//===- Interactive.h - Sequences whose operators run at once ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_INTERACTIVE_H
#define FAD_EAGER_INTERACTIVE_H

#include "sequence/OperatorCall.h"

namespace fad::eager {

/// Makes the result of an operator that PyTorch has computed a fad tensor. An
/// operator whose derivative cannot be computed keeps PyTorch's graph.
void conclude(Call &call, const at::Tensor &result);

/// The sequence's own node, which takes the place of PyTorch's where the value
/// is a first operator's.
SequenceNode *ownNode(const at::Tensor &tensor, Value &value);

/// C: what a sequence leaves, once an operator that is no part of it reads its
/// value. The end may wait for a reader that is not known to save the value.
std::optional<Waiting> finishInteractive(const at::Tensor &tensor, Value &value,
                                         bool readerSaves);
/// Ends a sequence that has waited for its reader.
void endInteractive(const at::Tensor &tensor, Value &value,
                    const Waiting &waiting, bool isSaved);

/// Whether the value has a node of its own, or may get one: nobody else has
/// PyTorch's.
bool mayOwnNode(const at::Tensor &tensor, const Value &value);

} // namespace fad::eager

#endif // FAD_EAGER_INTERACTIVE_H
