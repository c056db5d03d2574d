//===- HostBuffers.h - Buffers of kernels on the host -----------*- C++ -*-===//
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

/// A buffer in the form of a kernel's argument.
struct HostBuffer {
  /// Its bytes, contiguous: a memref<?xi8>.
  Value bytes;
  /// The type of an element on the host.
  Type element;
};

/// Emits the host's operations on the buffers of launches at one place.
class HostBuffers {
public:
  explicit HostBuffers(ImplicitLocOpBuilder &builder) : b(builder) {}

  /// `memref` as a contiguous buffer of one dimension. Buffers with gaps are
  /// copied, as are constants, which devices cannot reach.
  HostBuffer prepare(Value memref, bool isOutput);
  /// Allocates a buffer of `count` elements that lives until `finish`.
  HostBuffer allocate(Type element, Value count);
  /// The address of the element at `start`, an index, as an index.
  Value getAddress(const HostBuffer &buffer, Value start);
  /// The argument of a kernel for `buffer` from `start` on.
  Value getArgument(const HostBuffer &buffer, Value start);
  /// Launches the kernel of `op` whose name ends with `suffix`, on one
  /// dimension of blocks.
  void launch(Operation *op, StringRef suffix, Value blocks,
              ArrayRef<Value> arguments);
  /// Copies results to their places if they were computed in temporary buffers,
  /// and frees these.
  void finish();

  Value constant(int64_t value);
  /// The bytes of `count` elements of type `element`.
  Value getBytes(Value count, Type element);

private:
  HostBuffer flatten(Value memref);

  ImplicitLocOpBuilder &b;
  /// Temporary buffers of outputs, and the outputs.
  SmallVector<std::pair<Value, Value>> copies;
  SmallVector<Value> temporaries;
};

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_HOSTBUFFERS_H
