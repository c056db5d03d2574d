//===- Memory.cpp - Buffers of tensors ------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Memory.h"
#include <atomic>
#include <cstdlib>
#include <limits>

using namespace mlir::fad;

/// What stands in front of a buffer takes a cache line, to keep the alignment.
static constexpr size_t kLine = 64;

static std::atomic<size_t> currentBytes, peakBytes;

void *mlir::fad::allocateBuffer(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() - 2 * kLine)
    return nullptr;
  // aligned_alloc takes multiples of the alignment only.
  size_t total = (bytes + 2 * kLine - 1) / kLine * kLine;
  void *line = std::aligned_alloc(kLine, total);
  if (!line)
    return nullptr;
  *static_cast<size_t *>(line) = bytes;
  size_t now = currentBytes += bytes;
  size_t peak = peakBytes;
  while (now > peak && !peakBytes.compare_exchange_weak(peak, now))
    ;
  return static_cast<char *>(line) + kLine;
}

void mlir::fad::freeBuffer(void *buffer) {
  if (!buffer)
    return;
  void *line = static_cast<char *>(buffer) - kLine;
  currentBytes -= *static_cast<size_t *>(line);
  std::free(line);
}

size_t mlir::fad::getBufferBytes() { return currentBytes; }

size_t mlir::fad::getPeakBufferBytes() { return peakBytes; }

void mlir::fad::resetPeakBufferBytes() { peakBytes = size_t(currentBytes); }
