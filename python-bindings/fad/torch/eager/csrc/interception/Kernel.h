//===- Kernel.h - Fad operators in the mode ------------------- -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_KERNEL_H
#define FAD_EAGER_KERNEL_H

#include "deferred/Defer.h"
#include "interactive/Interactive.h"
#include "interception/Reader.h"
#include "sequence/OperatorCall.h"

namespace fad::eager {

/// Keys of plain dense tensors, with or without autograd and autocast.
constexpr c10::DispatchKeySet plainKeys =
    c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset |
    c10::DispatchKeySet(
        {c10::DispatchKey::Dense, c10::DispatchKey::BackendSelect,
         c10::DispatchKey::ADInplaceOrView, c10::DispatchKey::Conjugate,
         c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor, modeKey,
         tensorKey});
/// Keys of others, which have to see every operator: those of transforms,
/// modes, subclasses and other layouts. Backends have none.
constexpr c10::DispatchKeySet foreignKeys =
    ((c10::DispatchKeySet(c10::DispatchKeySet::FULL) ^
      c10::DispatchKeySet(c10::DispatchKeySet::RAW, c10::full_backend_mask)) -
     plainKeys) |
    c10::DispatchKeySet(c10::DispatchKey::AutogradNestedTensor);

/// Whether an operator of the given keys is nobody's but autograd's.
inline bool hasOurKeys(c10::DispatchKeySet keys) {
  return keys.has_any(c10::autograd_dispatch_keyset) &&
         !keys.has_any(foreignKeys);
}

/// Whether the thread's operators are nobody's but autograd's, and no part of a
/// backward, where nodes compute what was asked for alone.
bool isOurThread();

/// The thread's mode, or what an operator has in its place.
const Options &modeOf(const Operator &info,
                      c10::ArrayRef<c10::IValue> arguments);

/// Finds what is known of the operands and what the operator does. False where
/// it is to be left to PyTorch.
bool begin(Call &call);

/// Whether sequences may have a differentiable operand.
bool isSupported(const at::Tensor &tensor);

/// Runs a fad operator in the mode: PyTorch's own, and then the decision of the
/// state machine.
void runKernel(const Operator &info, const c10::OperatorHandle &op,
               c10::DispatchKeySet keys, torch::jit::Stack *stack);

/// The same for an operator of the given arguments, which are never boxed where
/// the operator is left to PyTorch.
template <typename... Args>
at::Tensor runTyped(const Operator &info,
                    const c10::TypedOperatorHandle<at::Tensor(Args...)> &op,
                    c10::DispatchKeySet keys, Args... args) {
  if (isAutocast(op, keys))
    return op.redispatch(belowKeys(keys), args...);
  auto run = [&] {
    c10::impl::ExcludeDispatchKeyGuard guard(bothKeys);
    return op.redispatch(belowKeys(keys), args...);
  };
  auto isDifferentiable = [](const auto &argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, at::Tensor>)
      return argument.defined() && argument.requires_grad();
    else
      return false;
  };
  // A tensor of others may have a symbol as its size.
  auto isOfSize = [&](const auto &argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, at::Tensor>)
      return isDifferentiable(argument) &&
             (argument.unsafeGetTensorImpl()->has_symbolic_sizes_strides() ||
              isLarge(argument));
    else
      return false;
  };
  // The slowest check is last.
  bool isCandidate =
      (isOfSize(args) || ...) && hasOurKeys(keys) && isOurThread();
  if (!isCandidate && !keys.has(tensorKey))
    return run();
  const c10::IValue arguments[] = {c10::IValue(args)...};
  // Readers look at how many references nodes have, so none remains of a call.
  auto nest = [&]() -> at::Tensor {
    Call call = {op, info, arguments, modeOf(info, arguments)};
    if (!begin(call))
      return {};
    if (call.mode.isDeferred)
      return defer(call);
    at::Tensor result = run();
    conclude(call, result);
    return result;
  };
  if (isCandidate)
    if (at::Tensor result = nest(); result.defined())
      return result;
  if (!keys.has(tensorKey))
    return run();
  torch::jit::Stack stack(std::begin(arguments), std::end(arguments));
  readBoxed(op, keys, &stack);
  return stack.back().toTensor();
}

} // namespace fad::eager

#endif // FAD_EAGER_KERNEL_H
