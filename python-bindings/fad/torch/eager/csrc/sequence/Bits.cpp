//===- Bits.cpp - Derivatives with two values -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/Bits.h"
#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/where.h>

namespace fad::eager {

bool isMaterial(const at::Tensor &tensor) {
  return !tensor.is_neg() && !tensor._is_zerotensor();
}

at::Tensor denseOf(const at::Tensor &tensor) {
  return tensor._is_zerotensor() ? tensor.clone(at::MemoryFormat::Contiguous)
                                 : tensor.resolve_neg().contiguous();
}

bool isPlain(const at::Tensor &tensor) {
  constexpr c10::DispatchKeySet others =
      c10::functorch_transforms_ks | c10::functorch_batched_ks |
      c10::python_ks | c10::DispatchKeySet(c10::DispatchKey::Functionalize);
  return !tensor.key_set().has_any(others) &&
         !tensor._fw_grad(/*level=*/0).defined();
}

template <typename T>
static bool pack(const T *data, int64_t count, uint8_t *bytes,
                 double values[2]) {
  // The bits of a value that is no number would be lost.
  const T first = data[0];
  T second = first;
  bool hasSecond = false;
  if (first != first)
    return false;
  for (int64_t i = 0; i < count; i += 8) {
    uint8_t byte = 0;
    for (int64_t j = i; j < std::min(i + 8, count); ++j) {
      if (data[j] == first)
        continue;
      if (!hasSecond) {
        second = data[j];
        hasSecond = true;
      }
      if (data[j] != second)
        return false;
      byte |= uint8_t(1) << (j - i);
    }
    bytes[i / 8] = byte;
  }
  values[0] = static_cast<double>(first);
  values[1] = static_cast<double>(second);
  return true;
}

at::Tensor packBits(const at::Tensor &derivative, double values[2]) {
  if (!derivative.device().is_cpu() || derivative.numel() == 0 ||
      !isMaterial(derivative))
    return {};
  const at::Tensor tensor = derivative.contiguous();
  at::Tensor bits =
      at::empty({(tensor.numel() + 7) / 8}, tensor.options().dtype(at::kByte));
  bool isPacked = false;
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, tensor.scalar_type(), "fad_pack_bits", [&] {
        isPacked = pack(tensor.const_data_ptr<scalar_t>(), tensor.numel(),
                        bits.mutable_data_ptr<uint8_t>(), values);
      });
  return isPacked ? bits : at::Tensor();
}

at::Tensor unpackBits(const at::Tensor &bits, const double values[2],
                      const at::Tensor &like) {
  // It is no transform's.
  at::Tensor result = at::detail::empty_cpu(like.sizes(), like.scalar_type());
  const uint8_t *bytes = bits.const_data_ptr<uint8_t>();
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, like.scalar_type(), "fad_unpack_bits", [&] {
        const scalar_t both[2] = {static_cast<scalar_t>(values[0]),
                                  static_cast<scalar_t>(values[1])};
        scalar_t *data = result.mutable_data_ptr<scalar_t>();
        for (int64_t i = 0, count = like.numel(); i < count; ++i)
          data[i] = both[bytes[i / 8] >> (i % 8) & 1];
      });
  return result;
}

at::Tensor multiplyBits(const at::Tensor &gradient, const at::Tensor &bits,
                        const double values[2]) {
  if (!isPlain(gradient)) {
    at::Tensor derivative = unpackBits(bits, values, gradient);
    return at::where(derivative == 0, derivative, gradient * derivative);
  }
  at::Tensor dense = denseOf(gradient);
  at::Tensor result =
      at::empty(dense.sizes(), dense.options().requires_grad(false));
  const uint8_t *bytes = bits.const_data_ptr<uint8_t>();
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, dense.scalar_type(), "fad_multiply_bits", [&] {
        const scalar_t both[2] = {static_cast<scalar_t>(values[0]),
                                  static_cast<scalar_t>(values[1])};
        const scalar_t *from = dense.const_data_ptr<scalar_t>();
        scalar_t *to = result.mutable_data_ptr<scalar_t>();
        for (int64_t i = 0, count = dense.numel(); i < count; ++i) {
          scalar_t factor = both[bytes[i / 8] >> (i % 8) & 1];
          to[i] = factor == scalar_t(0)
                      ? factor
                      : static_cast<scalar_t>(from[i] * factor);
        }
      });
  return result;
}

} // namespace fad::eager
