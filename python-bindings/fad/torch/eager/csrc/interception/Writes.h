//===- Writes.h - Writes to what sequences read ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_WRITES_H
#define FAD_EAGER_WRITES_H

#include "sequence/ReadMemory.h"
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace fad::eager {

/// Lets operators in the mode that write to a tensor, or hand out its memory,
/// wait for the sequences that read that memory and are not computed yet.
/// Sequences that backward runs again get copies of memory that is overwritten.
void watchWrites();

/// The same for operators that were registered since.
void watchNewOperators();

/// Computes what an operator's writes have to wait for, and copies the memory
/// that it overwrites where sequences read that.
/// The write is under way as long as `writing` is there.
void prepareWrites(const c10::OperatorHandle &op,
                   const torch::jit::Stack &stack, WriteUnderWay &writing);

/// Notes the silent writes of operators in the mode, and lets them wait as
/// well.
void watchSilentWrites();

} // namespace fad::eager

#endif // FAD_EAGER_WRITES_H
