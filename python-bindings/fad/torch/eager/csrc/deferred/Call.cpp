//===- Call.cpp - Calls what fad has compiled -----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Call.h"
#include <c10/core/CPUAllocator.h>
#include <c10/core/StorageImpl.h>

namespace fad::eager {

namespace {
/// A vector, as compiled code takes and returns it.
struct Vector {
  void *allocated, *aligned;
  int64_t offset, size, stride;
};
} // namespace

static Vector describe(const at::Tensor &tensor) {
  void *data = const_cast<void *>(tensor.const_data_ptr());
  return {data, data, 0, tensor.numel(), 1};
}

static void freeResult(void *buffer) {
  c10::profiledCPUMemoryReporter().Delete(buffer);
  native.free(buffer);
}

/// A tensor like another, of the memory of a result.
static at::Tensor take(const Vector &vector, const at::Tensor &like,
                       c10::ScalarType type) {
  size_t bytes = like.numel() * c10::elementSize(type);
  c10::profiledCPUMemoryReporter().New(vector.allocated, bytes);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes,
      c10::DataPtr(vector.aligned, vector.allocated, freeResult, c10::kCPU),
      c10::GetCPUAllocator(), /*resizable=*/true);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(),
                                                      like.strides());
  return tensor;
}

static std::vector<at::Tensor>
callOnHost(PackedCode code, const Arguments &arguments, const at::Tensor &like,
           c10::ArrayRef<c10::ScalarType> types) {
  std::vector<Vector> results(types.size()), vectors;
  std::vector<void *> pointers, packed;
  // Neither may move, as there are pointers to their elements.
  vectors.reserve(arguments.size());
  pointers.reserve(arguments.size() + 1);
  auto pass = [&](void *target) {
    pointers.push_back(target);
    packed.push_back(&pointers.back());
  };
  pass(results.data());
  for (const Argument &argument : arguments) {
    if (argument.tensor) {
      vectors.push_back(describe(*argument.tensor));
      pass(&vectors.back());
    } else {
      packed.push_back(argument.number);
    }
  }
  TORCH_CHECK(native.call(code, packed.data()),
              "fad.torch.nest: there is no memory for a tensor of ",
              like.numel() * c10::elementSize(types[0]), " bytes");
  std::vector<at::Tensor> found;
  for (size_t i = 0; i < types.size(); ++i)
    found.push_back(take(results[i], like, types[i]));
  return found;
}

std::vector<at::Tensor> call(Code code, const Arguments &arguments,
                             const at::Tensor &like,
                             c10::ArrayRef<c10::ScalarType> types) {
  if (like.device().is_cpu())
    return callOnHost(reinterpret_cast<PackedCode>(code), arguments, like,
                      types);
  return launch(*reinterpret_cast<const DeviceKernel *>(code), arguments, like,
                types);
}

} // namespace fad::eager
