//===- Call.h - Calls what fad has compiled ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_CALL_H
#define FAD_EAGER_CALL_H

#include "deferred/Code.h"
#include <ATen/core/Tensor.h>
#include <vector>

namespace fad::eager {

/// Functions of libfad_cuda_runtime.so (include/fad-c/CUDARuntime.h).
struct DriverInterface {
  /// The devices whose pointers and streams are those of the CUDA driver. The
  /// CPU stands for none.
  c10::DeviceType type = c10::DeviceType::CPU;
  int (*launch)(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                unsigned blockX, unsigned blockY, unsigned blockZ,
                unsigned sharedBytes, void *stream,
                void **parameters) = nullptr;
  int (*isCapturing)(void *stream, int *isCapturing) = nullptr;
  const char *(*getErrorMessage)() = nullptr;
};
inline DriverInterface driver;

/// Whether fad compiles for a device.
inline bool hasCode(c10::Device device) {
  return device.is_cpu() || device.type() == driver.type;
}

/// An argument of compiled code: a tensor, or else a number.
struct Argument {
  const at::Tensor *tensor;
  double *number;
  /// That of the tensor, if it is one of a step (see `getMemory`).
  c10::Storage memory = {};
};
using Arguments = std::vector<Argument>;

/// The results of compiled code, each with one of the `types`, and the device,
/// sizes and strides of `like`, as all tensors among the arguments have.
std::vector<at::Tensor> call(Code code, const Arguments &arguments,
                             const at::Tensor &like,
                             c10::ArrayRef<c10::ScalarType> types);

/// Starts a kernel, which writes `results`, on the device's current stream.
void launch(const DeviceKernel &kernel, const Arguments &arguments,
            const std::vector<at::Tensor> &results);

} // namespace fad::eager

#endif // FAD_EAGER_CALL_H
