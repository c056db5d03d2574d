//===- Memory.cpp - Buffers of tensors ------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Memory.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/sysinfo.h>
#endif

using namespace mlir::fad;

/// The header of a buffer takes a cache line, to keep the alignment.
static constexpr size_t kLine = 64;

namespace {
/// The header of a buffer.
struct Header {
  size_t bytes, numOwners;
  /// All bytes of the block.
  size_t blockBytes;
};

/// Large freed blocks, for reuse: the pages of a fresh block cost more time
/// than an activation takes to fill them. Blocks in use and kept blocks
/// together never exceed the peak of those in use.
class FreeBlocks {
public:
  /// A block of `bytes` or slightly more, or null; sets `bytes` to its size.
  void *allocate(size_t &bytes);
  void free(void *block, size_t bytes);
  void release();
  size_t getKeptBytes();

private:
  void releaseDownTo(size_t bytes);

  std::mutex mutex;
  std::multimap<size_t, void *> blocks;
  size_t keptBytes = 0, usedBytes = 0, peakBytes = 0;
};
} // namespace

/// Smaller blocks come from pages that the C library keeps.
static constexpr size_t kLargeBlock = 1 << 16;
/// The size on x86 and ARM, if the system grants huge pages on request.
static constexpr size_t kHugePage = 1 << 21;

static size_t computeMemoryLimit() {
  size_t limit = std::numeric_limits<size_t>::max();
#if defined(__linux__)
  struct sysinfo info;
  if (!sysinfo(&info))
    limit = (info.totalram + info.totalswap) * size_t(info.mem_unit);
  // The limits of a container, in both versions of control groups; without a
  // limit the file has "max", or a large number.
  for (const char *path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    size_t ofContainer;
    if (std::ifstream(path) >> ofContainer)
      limit = std::min(limit, ofContainer);
  }
#endif
  return limit;
}

size_t mlir::fad::getMemoryLimit() {
  static const size_t limit = computeMemoryLimit();
  return limit;
}

/// A block of `bytes`, a multiple of kLine, or null.
static void *allocatePages(size_t bytes) {
  // The system overcommits memory, and kills processes that write to it.
  size_t limit = getMemoryLimit();
  if (bytes > limit - std::min(getBufferBytes(), limit))
    return nullptr;
  if (bytes < 2 * kHugePage ||
      bytes > std::numeric_limits<size_t>::max() - kHugePage)
    return std::aligned_alloc(kLine, bytes);
  // Large blocks use huge pages, which are fewer to create and to look up.
  size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void *block = std::aligned_alloc(kHugePage, rounded);
#ifdef MADV_HUGEPAGE
  // Bytes past the end stay untouched, so that they get no page.
  if (block)
    (void)madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return block;
}

static BlockSource source = {allocatePages, std::free};

void mlir::fad::setBlockSource(BlockSource other) { source = other; }

void *FreeBlocks::allocate(size_t &bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto fit = blocks.lower_bound(bytes);
  if (fit != blocks.end() && fit->first <= bytes + bytes / 8) {
    void *block = fit->second;
    bytes = fit->first;
    keptBytes -= bytes;
    usedBytes += bytes;
    blocks.erase(fit);
    return block;
  }
  size_t used = usedBytes + bytes;
  releaseDownTo(std::max(peakBytes, used) - used);
  void *block = source.allocate(bytes);
  if (!block) {
    releaseDownTo(0);
    block = source.allocate(bytes);
  }
  if (block) {
    usedBytes = used;
    peakBytes = std::max(peakBytes, used);
  }
  return block;
}

void FreeBlocks::free(void *block, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  blocks.emplace(bytes, block);
  usedBytes -= bytes;
  keptBytes += bytes;
}

void FreeBlocks::release() {
  std::lock_guard<std::mutex> lock(mutex);
  releaseDownTo(0);
  peakBytes = usedBytes;
}

size_t FreeBlocks::getKeptBytes() {
  std::lock_guard<std::mutex> lock(mutex);
  return keptBytes;
}

void FreeBlocks::releaseDownTo(size_t bytes) {
  while (keptBytes > bytes) {
    auto smallest = blocks.begin();
    keptBytes -= smallest->first;
    source.free(smallest->second);
    blocks.erase(smallest);
  }
}

/// Never destroyed, because threads may free buffers while the process ends.
static FreeBlocks &getFreeBlocks() {
  static auto *blocks = new FreeBlocks;
  return *blocks;
}

static Header &getHeader(void *buffer) {
  return *reinterpret_cast<Header *>(static_cast<char *>(buffer) - kLine);
}

static std::atomic<size_t> currentBytes, peakBytes, numAllocations;

void *mlir::fad::allocateBuffer(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() - 2 * kLine)
    return nullptr;
  // aligned_alloc takes multiples of the alignment only.
  size_t total = (bytes + 2 * kLine - 1) / kLine * kLine;
  void *line = total < kLargeBlock ? source.allocate(total)
                                   : getFreeBlocks().allocate(total);
  if (!line)
    return nullptr;
  void *buffer = static_cast<char *>(line) + kLine;
  getHeader(buffer) = {bytes, /*numOwners=*/1, total};
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
  auto [bytes, numOwners, blockBytes] = getHeader(buffer);
  currentBytes -= bytes;
  if (blockBytes < kLargeBlock)
    source.free(&getHeader(buffer));
  else
    getFreeBlocks().free(&getHeader(buffer), blockBytes);
}

void mlir::fad::releaseFreeBuffers() { getFreeBlocks().release(); }

size_t mlir::fad::getFreeBufferBytes() {
  return getFreeBlocks().getKeptBytes();
}

void mlir::fad::retainBuffer(void *buffer) { ++getHeader(buffer).numOwners; }

size_t mlir::fad::getBufferBytes() { return currentBytes; }

size_t mlir::fad::getPeakBufferBytes() { return peakBytes; }

void mlir::fad::resetPeakBufferBytes() { peakBytes = size_t(currentBytes); }

size_t mlir::fad::getNumAllocations() { return numAllocations; }
