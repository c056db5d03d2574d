//===- Memory.h - Buffers of tensors ----------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_MEMORY_H
#define FAD_RUNTIME_MEMORY_H

#include <cstddef>

namespace mlir::fad {

/// `bytes` bytes, aligned to a cache line, or null if memory is lacking.
/// Generated code allocates through this function as well, so that all tensors
/// count.
///
/// Large freed buffers are kept for later allocations, within the peak memory
/// of buffers: fresh pages would take more time than the computation in them.
void *allocateBuffer(size_t bytes);
void freeBuffer(void *buffer);
/// The largest sum of the bytes of buffers: the memory of the machine, or of
/// the container of the process.
size_t getMemoryLimit();
/// The allocator of buffers: aligned to a cache line, or null if memory is
/// lacking.
struct BlockSource {
  void *(*allocate)(size_t bytes);
  void (*free)(void *block);
};
/// Makes `source` the allocator. Not allowed while buffers exist.
void setBlockSource(BlockSource source);

/// Gives the kept freed buffers back to the system.
void releaseFreeBuffers();
/// Bytes in freed buffers that are kept, headers included.
size_t getFreeBufferBytes();
/// Adds an owner to `buffer`: one more call of `freeBuffer` is needed to free
/// it. Not thread-safe.
void retainBuffer(void *buffer);

/// Bytes in buffers now.
size_t getBufferBytes();
/// Most bytes in buffers at any time since the last reset.
size_t getPeakBufferBytes();
void resetPeakBufferBytes();
/// Buffers that were allocated so far.
size_t getNumAllocations();

} // namespace mlir::fad

#endif // FAD_RUNTIME_MEMORY_H
