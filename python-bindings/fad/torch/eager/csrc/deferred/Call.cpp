//===- Call.cpp - Calls what fad has compiled -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Call.h"
#include "sequence/Keys.h"
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/empty_strided.h>

namespace fad::eager {

namespace {
/// A vector, as compiled code takes it.
struct Vector {
  void *allocated, *aligned;
  int64_t offset, size, stride;
};
} // namespace

/// Elements from `begin` on of a tensor whose elements lie side by side.
static Vector slice(const at::Tensor &tensor, int64_t begin, int64_t size) {
  auto *data = static_cast<char *>(const_cast<void *>(tensor.const_data_ptr()));
  data += begin * static_cast<int64_t>(tensor.element_size());
  return {data, data, 0, size, 1};
}

/// Computes elements of `results`.
static void callOnSlice(PackedCode code, const Arguments &arguments,
                        const std::vector<at::Tensor> &results, int64_t begin,
                        int64_t size) {
  size_t count = arguments.size() + results.size();
  std::vector<Vector> vectors;
  std::vector<void *> pointers, packed;
  // Neither may move, as there are pointers to their elements.
  vectors.reserve(count);
  pointers.reserve(count);
  auto pass = [&](const at::Tensor &tensor) {
    vectors.push_back(slice(tensor, begin, size));
    pointers.push_back(&vectors.back());
    packed.push_back(&pointers.back());
  };
  for (const Argument &argument : arguments) {
    if (argument.tensor)
      pass(*argument.tensor);
    else
      packed.push_back(argument.number);
  }
  for (const at::Tensor &result : results)
    pass(result);
  code(packed.data());
}

/// Slices begin at multiples of so many elements, where vectors are aligned.
static constexpr int64_t unit = 64;

/// PyTorch's threads run the slices: others would take processors from them.
/// `at::parallel_for` is a template, which has threads where OpenMP compiles
/// it, and then those of the compiler's own library. So an iterator of PyTorch,
/// which is compiled with it, goes over the first elements of units.
static void callOnHost(PackedCode code, const Arguments &arguments,
                       const std::vector<at::Tensor> &results) {
  const at::Tensor &first = results[0];
  int64_t size = first.numel();
  if (size <= at::internal::GRAIN_SIZE || at::get_num_threads() == 1 ||
      at::in_parallel_region())
    return callOnSlice(code, arguments, results, 0, size);
  at::Tensor units = first.as_strided({(size + unit - 1) / unit}, {unit});
  auto iterator = at::TensorIterator::nullary_op(units);
  const auto *base = static_cast<const char *>(first.const_data_ptr());
  int64_t unitBytes = unit * static_cast<int64_t>(first.element_size());
  auto callOnUnits = [&](char **data, const int64_t *strides, int64_t count,
                         int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t begin = (data[0] + row * strides[1] - base) / unitBytes * unit;
      int64_t end = std::min(begin + count * unit, size);
      callOnSlice(code, arguments, results, begin, end - begin);
    }
  };
  iterator.for_each(callOnUnits, at::internal::GRAIN_SIZE / unit);
}

std::vector<at::Tensor> call(Code code, const Arguments &arguments,
                             const at::Tensor &like,
                             c10::ArrayRef<c10::ScalarType> types) {
  // Inside of a transform of torch.func, new tensors would be the transform's.
  OutsideTransforms outside;
  std::vector<at::Tensor> results;
  for (c10::ScalarType type : types)
    results.push_back(at::empty_strided(like.sizes(), like.strides(),
                                        like.options().dtype(type)));
  if (like.device().is_cpu())
    callOnHost(reinterpret_cast<PackedCode>(code), arguments, results);
  else
    launch(*reinterpret_cast<const DeviceKernel *>(code), arguments, results);
  return results;
}

} // namespace fad::eager
