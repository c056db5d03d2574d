//===- SilentWrites.h - Writes that no version counts -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Some operators write to arguments without saying so in their schemas, and
// PyTorch's versions do not count that: batch normalizations to running
// statistics, collectives to what they receive. What a sequence reads later
// than that is known by a clock.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_SILENTWRITES_H
#define FAD_EAGER_SILENTWRITES_H

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace fad::eager {

/// How many silent writes the process has seen.
uint64_t countSilentWrites();
/// Whether memory of a tensor had a silent write after so many.
bool isSilentlyWritten(const at::Tensor &tensor, uint64_t after);

/// Has a tensor's memory, which is new, count as one without silent writes:
/// another may have had its place.
void forgetSilentWrites(const at::Tensor &tensor);

/// Notes what an operator that writes silently, in the mode, is going to write
/// to, and calls `visit` with it.
void noteSilentWrites(const c10::OperatorHandle &op,
                      const torch::jit::Stack &stack,
                      c10::function_ref<void(const at::Tensor &)> visit);
/// Whether an operator writes silently.
bool isSilentWriter(const c10::OperatorHandle &op);

} // namespace fad::eager

#endif // FAD_EAGER_SILENTWRITES_H
