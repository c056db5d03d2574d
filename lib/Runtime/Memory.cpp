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

namespace {
/// What stands there.
struct Header {
  size_t bytes, numOwners;
};
} // namespace

static Header &getHeader(void *buffer) {
  return *reinterpret_cast<Header *>(static_cast<char *>(buffer) - kLine);
}

static std::atomic<size_t> currentBytes, peakBytes, numAllocations;

void *mlir::fad::allocateBuffer(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() - 2 * kLine)
    return nullptr;
  // aligned_alloc takes multiples of the alignment only.
  size_t total = (bytes + 2 * kLine - 1) / kLine * kLine;
  void *line = std::aligned_alloc(kLine, total);
  if (!line)
    return nullptr;
  void *buffer = static_cast<char *>(line) + kLine;
  getHeader(buffer) = {bytes, /*numOwners=*/1};
  ++numAllocations;
  size_t now = currentBytes += bytes;
  size_t peak = peakBytes;
  while (now > peak && !peakBytes.compare_exchange_weak(peak, now))
    ;
  return buffer;
}

void mlir::fad::freeBuffer(void *buffer) {
  if (!buffer || --getHeader(buffer).numOwners)
    return;
  currentBytes -= getHeader(buffer).bytes;
  std::free(&getHeader(buffer));
}

void mlir::fad::retainBuffer(void *buffer) { ++getHeader(buffer).numOwners; }

size_t mlir::fad::getBufferBytes() { return currentBytes; }

size_t mlir::fad::getPeakBufferBytes() { return peakBytes; }

void mlir::fad::resetPeakBufferBytes() { peakBytes = size_t(currentBytes); }

size_t mlir::fad::getNumAllocations() { return numAllocations; }
