//===- InPlace.h - Activations that write to their operand ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_INPLACE_H
#define FAD_EAGER_INPLACE_H

#include "sequence/Operators.h"
#include <ATen/core/stack.h>

namespace fad::eager {

/// Runs an activation in place in the mode. PyTorch's own operator keeps a copy
/// of the old value, from which the result is a sequence, computed at once
/// by both engines. `info` and `pure` are of the operator that writes to
/// nothing.
void runInPlace(const Operator &info, const c10::OperatorHandle &pure,
                const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                torch::jit::Stack *stack);

/// Leaves an activation in place to PyTorch, whose node saves the result alone,
/// and says so to an observer.
void leaveInPlace(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack);

} // namespace fad::eager

#endif // FAD_EAGER_INPLACE_H
