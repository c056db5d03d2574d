//===- HostBuffers.h - Buffers as kernels take them -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_HOSTBUFFERS_H
#define FAD_LIB_CODEGEN_GPU_HOSTBUFFERS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fad {

/// A buffer as a kernel takes it.
struct HostBuffer {
  /// Its bytes, contiguous: a memref<?xi8>.
  Value bytes;
  /// The type of an element, as the host has it.
  Type element;
};

/// Emits what the host does with buffers for launches at one place.
class HostBuffers {
public:
  explicit HostBuffers(ImplicitLocOpBuilder &builder) : b(builder) {}

  /// `memref` without gaps, in one dimension. What has gaps is copied; so are
  /// constants, which devices do not reach.
  HostBuffer prepare(Value memref, bool isOutput);
  /// A buffer of `count` elements, until `finish`.
  HostBuffer allocate(Type element, Value count);
  /// The address of the element at `start`, an index, as an index.
  Value getAddress(const HostBuffer &buffer, Value start);
  /// The argument of a kernel for `buffer` from `start` on.
  Value getArgument(const HostBuffer &buffer, Value start);
  /// Launches the kernel of `op` whose name ends with `suffix`, on one
  /// dimension of blocks.
  void launch(Operation *op, StringRef suffix, Value blocks,
              ArrayRef<Value> arguments);
  /// Copies results that were computed elsewhere to their places, and frees
  /// what was allocated.
  void finish();

  Value constant(int64_t value);
  /// The bytes of `count` elements of type `element`.
  Value getBytes(Value count, Type element);

private:
  HostBuffer flatten(Value memref);

  ImplicitLocOpBuilder &b;
  /// What was allocated for outputs, and the outputs.
  SmallVector<std::pair<Value, Value>> copies;
  SmallVector<Value> temporaries;
};

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_HOSTBUFFERS_H
