//===- Slope.cpp - Derivatives that are functions of results --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "interactive/Slope.h"
#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>

namespace fad::eager {

bool isDenseLike(const at::Tensor &tensor, const at::Tensor &like) {
  return tensor.is_non_overlapping_and_dense() &&
         tensor.scalar_type() == like.scalar_type() &&
         tensor.device() == like.device() &&
         tensor.sizes().equals(like.sizes()) &&
         tensor.strides().equals(like.strides());
}

/// Whether the tensor's elements can be read in memory, in the order of those
/// of `like`.
static bool isPlainLike(const at::Tensor &tensor, const at::Tensor &like) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         isMaterial(tensor) &&
         !tensor.unsafeGetTensorImpl()->is_python_dispatch() &&
         isDenseLike(tensor, like);
}

/// Optimized for itself, as the rest of the extension need not be.
template <typename T, typename Function>
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
static void map(T *__restrict into, const T *__restrict factor,
                const T *__restrict result, int64_t count, Function slope,
                T derivative) {
  for (int64_t i = 0; i < count; ++i)
    into[i] = derivative * result[i] + factor[i] * slope(result[i]);
}

at::Tensor deriveProductInOnePass(const at::Tensor &factor, double derivative,
                                  const at::Tensor &result, Slope slope) {
  auto type = result.scalar_type();
  bool isSerial =
      result.numel() <= at::internal::GRAIN_SIZE || at::get_num_threads() == 1;
  if (slope == Slope::Unknown || !isSerial ||
      (type != at::kFloat && type != at::kDouble) ||
      !isPlainLike(result, result) || !isPlainLike(factor, result))
    return {};
  at::Tensor all(
      at::detail::empty_strided_cpu(result.sizes(), result.strides(), type));
  AT_DISPATCH_FLOATING_TYPES(type, "deriveProductInOnePass", [&] {
    using T = scalar_t;
    auto run = [&](auto slope) {
      map(all.mutable_data_ptr<T>(), factor.const_data_ptr<T>(),
          result.const_data_ptr<T>(), result.numel(), slope,
          static_cast<T>(derivative));
    };
    switch (slope) {
    case Slope::Sigmoid:
      return run([](T y) { return y * (1 - y); });
    case Slope::Tanh:
      return run([](T y) { return 1 - y * y; });
    case Slope::Exp:
      return run([](T y) { return y; });
    case Slope::Unknown:
      return;
    }
  });
  return all;
}

} // namespace fad::eager
