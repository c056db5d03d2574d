//===- Keys.h - The dispatch keys of eager nesting --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two keys intercept operators above autograd. The mode's key is a thread's,
// and has kernels for fad operators alone, so that all others cost nothing. The
// tensor's key is set on fad tensors, so that every operator that reads one is
// seen. PyTorch has no key to spare; its keys for tests are free outside of its
// own tests.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_KEYS_H
#define FAD_EAGER_KEYS_H

#include "machine/StateMachine.h"
#include "machine/Trace.h"
#include <ATen/SavedTensorHooks.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace fad::eager {

constexpr auto modeKey = c10::DispatchKey::TESTING_ONLY_GenericMode;
constexpr auto tensorKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;
const c10::DispatchKeySet bothKeys({modeKey, tensorKey});

/// Arguments of `nest`, for each thread.
struct Options {
  Policy policy = Policy::Auto;
  /// Tensors with fewer elements are left to PyTorch. Negative where that
  /// depends on the device: a GPU waits for calls where kernels are short.
  int64_t minNumel = 0;
  /// Of the elements of derivatives that may be approximated; 0 where none may.
  int bits = 0;
  bool isTraced = false;
  /// Whether an observer is told of sequences.
  bool isObserved = false;
  /// Whether sequences are computed as a whole, where they are read.
  bool isDeferred = false;
};
inline thread_local Options options;

/// Whether a tensor has so many elements that it is not left to PyTorch.
inline bool isLarge(const at::Tensor &tensor, const Options &mode = options) {
  int64_t least = mode.minNumel >= 0 ? mode.minNumel
                  : tensor.is_cpu()  ? 1 << 12
                                     : 1 << 20;
  return tensor.numel() >= least;
}

inline thread_local Trace trace;

inline bool isTraced() { return C10_UNLIKELY(options.isTraced); }
inline bool isObserved() { return C10_UNLIKELY(options.isObserved); }

/// While it is alive, operators are PyTorch's own, and autocast leaves them
/// alone: what they compute has the types that forward had.
class PlainGuard {
  c10::impl::ExcludeDispatchKeyGuard keys{bothKeys |
                                          c10::autocast_dispatch_keyset};
};

/// While it is alive, tensors are those of no transform of torch.func that the
/// thread is inside of.
class OutsideTransforms {
  c10::impl::ExcludeDispatchKeyGuard keys{
      c10::DispatchKeySet({c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                           c10::DispatchKey::FuncTorchDynamicLayerBackMode})};
};

/// While it is alive, nodes save tensors past the saved-tensor hooks that the
/// thread is inside of, which are others': checkpoints count what they see, and
/// hooks may change it. PyTorch passes them where it traces. The hooks stay
/// where they are, as copies of them take Python's lock, whose owner may wait
/// for the tensor that is computed here.
/// A guard of PyTorch's that disables default hooks without an error would
/// replace this.
class OutsideHooks {
public:
  OutsideHooks() = default;
  ~OutsideHooks() { at::SavedTensorDefaultHooks::set_tracing(before); }
  OutsideHooks(const OutsideHooks &) = delete;

private:
  const bool before = at::SavedTensorDefaultHooks::set_tracing(true);
};

/// A value computed late, or of others' numbers, is computed as in a thread
/// that is in no mode.
struct OutsideModes {
  c10::InferenceMode normal{false};
  at::AutoGradMode off{false};
  // Copies of tensors are seen by a mode of Python's whose keys are not
  // excluded.
  c10::impl::ForceDispatchKeyGuard keys{
      c10::default_included_set,
      c10::default_excluded_set | bothKeys |
          c10::DispatchKeySet(
              {c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
};

/// Whether the thread runs the forward of a function of Python's, which may
/// save what it reads. PyTorch computes no tangents there; `no_grad` does not
/// turn those off.
inline bool isInFunction() {
  return !at::GradMode::is_enabled() &&
         !c10::AutogradState::get_tls_state().get_fw_grad_mode() &&
         !c10::InferenceMode::is_enabled();
}

} // namespace fad::eager

#endif // FAD_EAGER_KEYS_H
