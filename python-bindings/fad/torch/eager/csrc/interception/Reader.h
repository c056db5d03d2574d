//===- Reader.h - Operators that are left to PyTorch ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_READER_H
#define FAD_EAGER_READER_H

#include "sequence/Value.h"
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace fad::eager {

/// The keys that are left to an operator below both.
inline c10::DispatchKeySet belowKeys(c10::DispatchKeySet keys) {
  return (keys - bothKeys) &
         c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, tensorKey);
}

/// Whether autocast decides on the types of an operator. It calls the operator
/// again, after casts.
inline bool isAutocast(const c10::OperatorHandle &op,
                       c10::DispatchKeySet keys) {
  c10::DispatchKeySet active = keys & c10::autocast_dispatch_keyset;
  return !active.empty() &&
         op.hasKernelForDispatchKey(active.highestPriorityTypeId());
}

/// Whether an operator consists of others, each of which is seen by itself.
bool isComposite(const c10::OperatorHandle &op, c10::DispatchKeySet keys);

/// Runs an operator below both keys.
inline void redispatch(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                       torch::jit::Stack *stack) {
  c10::impl::ExcludeDispatchKeyGuard guard(bothKeys);
  op.redispatchBoxed(belowKeys(keys), stack);
}

/// Ends the sequence of a tensor, unless that is done. What its operators saved
/// remains where later readers may save it as well.
void finishAtOnce(const at::Tensor &tensor, Value &value);

/// The work of an operator that reads a fad tensor and does not continue its
/// sequence.
void readBoxed(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
               torch::jit::Stack *stack);

/// An operator that is left to PyTorch, whatever its operands are.
inline void leave(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
  keys.has(tensorKey) ? readBoxed(op, keys, stack)
                      : redispatch(op, keys, stack);
}

} // namespace fad::eager

#endif // FAD_EAGER_READER_H
