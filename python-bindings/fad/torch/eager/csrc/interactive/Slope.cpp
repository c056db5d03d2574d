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
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>

namespace fad::eager {

bool isFree(const at::Tensor &tensor, const at::Tensor &like) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1 &&
         tensor.is_non_overlapping_and_dense() &&
         tensor.scalar_type() == like.scalar_type() &&
         tensor.device() == like.device() &&
         tensor.sizes().equals(like.sizes()) &&
         tensor.strides().equals(like.strides());
}

/// Whether the tensor's memory is its elements in order, as of `like`, and
/// nobody has to see what reads it.
static bool isPlain(const at::Tensor &tensor, const at::Tensor &like) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         !tensor.is_neg() &&
         !tensor.unsafeGetTensorImpl()->is_python_dispatch() &&
         tensor.scalar_type() == like.scalar_type() &&
         tensor.is_non_overlapping_and_dense() &&
         tensor.sizes().equals(like.sizes()) &&
         tensor.strides().equals(like.strides());
}

/// Calls `function` for ranges of the elements, in several threads where there
/// are many.
template <typename T, typename Function>
static void map(const at::Tensor &into, const at::Tensor &term,
                const at::Tensor &factor, const at::Tensor &result,
                Function function) {
  T *out = into.mutable_data_ptr<T>();
  const T *a = term.const_data_ptr<T>(), *b = factor.const_data_ptr<T>(),
          *c = result.const_data_ptr<T>();
  at::parallel_for(0, into.numel(), at::internal::GRAIN_SIZE,
                   [&](int64_t begin, int64_t end) {
                     at::vec::map3(function, out + begin, a + begin, b + begin,
                                   c + begin, end - begin);
                   });
}

at::Tensor addSlope(at::Tensor term, const at::Tensor &factor, Slope slope,
                    const at::Tensor &result) {
  auto type = result.scalar_type();
  if (slope == Slope::Unknown || (type != at::kFloat && type != at::kDouble) ||
      !isPlain(result, result) || !isPlain(term, result) ||
      !isPlain(factor, result))
    return {};
  at::Tensor sum = isFree(term, result)
                       ? term
                       : at::Tensor(at::detail::empty_strided_cpu(
                             result.sizes(), result.strides(), type));
  AT_DISPATCH_FLOATING_TYPES(type, "fad_add_slope", [&] {
    using Vector = at::vec::Vectorized<scalar_t>;
    const Vector one(1);
    switch (slope) {
    case Slope::Sigmoid:
      return map<scalar_t>(sum, term, factor, result,
                           [&](Vector term, Vector factor, Vector y) {
                             return term + factor * (one - y) * y;
                           });
    case Slope::Tanh:
      return map<scalar_t>(sum, term, factor, result,
                           [&](Vector term, Vector factor, Vector y) {
                             return term + factor * (one - y * y);
                           });
    case Slope::Exp:
      return map<scalar_t>(sum, term, factor, result,
                           [&](Vector term, Vector factor, Vector y) {
                             return term + factor * y;
                           });
    case Slope::Unknown:
      return;
    }
  });
  return sum;
}

} // namespace fad::eager
