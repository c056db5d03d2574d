//===- Kernel.h - Fad operators in the mode ------------------- -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_KERNEL_H
#define FAD_EAGER_KERNEL_H

#include "Keys.h"
#include "Operators.h"

namespace fad::eager {

/// Runs a fad operator in the mode: PyTorch's own, and then the decision of the state
/// machine.
void runKernel(const Operator &info, const c10::OperatorHandle &op, c10::DispatchKeySet keys,
               torch::jit::Stack *stack);

} // namespace fad::eager

#endif // FAD_EAGER_KERNEL_H
