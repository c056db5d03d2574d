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

/// `bytes` bytes, aligned to a cache line, or null where there is no memory.
/// Generated code allocates through this as well, so that all tensors count.
///
/// Large buffers that are freed are kept for those to come, as long as that
/// takes no more memory than buffers did at their peak: fresh pages cost more
/// time than what is computed in them.
void *allocateBuffer(size_t bytes);
void freeBuffer(void *buffer);
/// Bytes that buffers take together at most: what the machine has, or the
/// container that the process is in.
size_t getMemoryLimit();
/// Where the memory of buffers comes from: aligned to a cache line, or null
/// where there is none.
struct BlockSource {
  void *(*allocate)(size_t bytes);
  void (*free)(void *block);
};
/// Takes memory from `source` from now on. Not while there are buffers.
void setBlockSource(BlockSource source);

/// Gives the buffers that are kept for others back to the system.
void releaseFreeBuffers();
/// Bytes in buffers that are kept for others, with what stands in front of
/// them.
size_t getFreeBufferBytes();
/// Lets `buffer` have one more owner: it takes one more call of `freeBuffer`
/// to free it. Not for several threads at a time.
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
