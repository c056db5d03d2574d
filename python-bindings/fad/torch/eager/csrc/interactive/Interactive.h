//===- Interactive.h - Sequences whose operators run at once ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_INTERACTIVE_H
#define FAD_EAGER_INTERACTIVE_H

#include "interception/Kernel.h"

namespace fad::eager {

/// Finds the derivative of the result of a sequence, whose operator has the
/// node `own`.
void deriveHeld(const Call &call, const NodePtr &own, const at::Tensor &result,
                Held &held);

/// Makes the result of an operator that PyTorch has computed a fad tensor. An
/// operator whose derivative cannot be computed keeps PyTorch's graph.
void conclude(Call &call, const at::Tensor &result);

/// Runs an activation in place in the mode. PyTorch's own operator keeps a copy
/// of what it overwrites, from which the result is a sequence, computed at once
/// by both engines. `info` and `pure` are of the operator that writes to
/// nothing.
void runInPlace(const Operator &info, const c10::OperatorHandle &pure,
                const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                torch::jit::Stack *stack);

/// Leaves an activation in place to PyTorch, whose node saves the result alone,
/// and says so to an observer.
void leaveInPlace(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack);

/// C: what a sequence leaves, once an operator that is no part of it reads its
/// value.
void finishInteractive(const at::Tensor &tensor, Value &value,
                       bool readerSaves);

} // namespace fad::eager

#endif // FAD_EAGER_INTERACTIVE_H
