//===- Code.h - Code that fad compiles --------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of the CPU and kernels of a GPU. Nothing here knows tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_CODE_H
#define FAD_EAGER_CODE_H

#include <cstdint>

namespace fad::eager {

/// Code of fad on vectors of the CPU. See `CompiledModule::getPacked`.
using PackedCode = void (*)(void **);

/// A kernel of a GPU. `_Kernel` of eager/_device.py is the same.
struct DeviceKernel {
  /// A kernel of libfad_cuda_runtime.so: for pointers that are multiples of
  /// 16 bytes, and for others.
  void *aligned, *unaligned;
  /// Of a block; and how many elements a block computes.
  int64_t threads, tile;
  /// Arguments of the kernel before the number of elements: the number of an
  /// argument, or -1 less that of a result.
  const int64_t *parameters;
  int64_t parameterCount;
};

/// An address: of a `PackedCode`, where tensors are on the CPU, or else of a
/// `DeviceKernel`. 0 is none.
using Code = uintptr_t;

} // namespace fad::eager

#endif // FAD_EAGER_CODE_H
