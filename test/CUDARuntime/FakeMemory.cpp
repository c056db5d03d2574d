//===- FakeMemory.cpp - Memory of the driver in tests ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

using namespace fake;

using DevicePointer = unsigned long long;
struct CUstream_st;

namespace {
/// Pieces of memory by where they begin.
class Pieces {
public:
  void add(const void *begin, size_t size) {
    std::lock_guard<std::mutex> lock(mutex);
    sizes[begin] = size;
  }
  bool remove(const void *begin) {
    std::lock_guard<std::mutex> lock(mutex);
    return sizes.erase(begin);
  }
  /// Whether bytes are in one of them.
  bool contain(DevicePointer address, size_t size) {
    std::lock_guard<std::mutex> lock(mutex);
    auto *begin = reinterpret_cast<const char *>(address);
    auto after = sizes.upper_bound(begin);
    if (after == sizes.begin())
      return false;
    auto [piece, pieceSize] = *std::prev(after);
    return begin + size <= static_cast<const char *>(piece) + pieceSize;
  }

private:
  std::mutex mutex;
  std::map<const void *, size_t> sizes;
};
} // namespace

static Pieces allocated, registered;

static void *toPointer(DevicePointer address) {
  return reinterpret_cast<void *>(address);
}

static Result allocate(const char *call, DevicePointer *pointer, size_t size) {
  if (Result result = enterInContext(call, std::to_string(size)))
    return result;
  void *piece = size ? std::malloc(size) : nullptr;
  if (!piece)
    return kInvalidValue;
  allocated.add(piece, size);
  *pointer = reinterpret_cast<DevicePointer>(piece);
  return 0;
}

FAKE_CUDA cuMemAlloc_v2(DevicePointer *pointer, size_t size) {
  return allocate("cuMemAlloc", pointer, size);
}

FAKE_CUDA cuMemAllocManaged(DevicePointer *pointer, size_t size,
                            unsigned flags) {
  return flags == 1 ? allocate("cuMemAllocManaged", pointer, size)
                    : kInvalidValue;
}

FAKE_CUDA cuMemFree_v2(DevicePointer pointer) {
  if (Result result = enterInContext("cuMemFree"))
    return result;
  if (!allocated.remove(toPointer(pointer)))
    return kInvalidValue;
  std::free(toPointer(pointer));
  return 0;
}

FAKE_CUDA cuMemcpyHtoDAsync_v2(DevicePointer destination, const void *source,
                               size_t size, CUstream_st *) {
  if (Result result = enterInContext("cuMemcpyHtoDAsync", std::to_string(size)))
    return result;
  if (!allocated.contain(destination, size))
    return kInvalidValue;
  std::memcpy(toPointer(destination), source, size);
  return 0;
}

FAKE_CUDA cuMemcpyDtoHAsync_v2(void *destination, DevicePointer source,
                               size_t size, CUstream_st *) {
  if (Result result = enterInContext("cuMemcpyDtoHAsync", std::to_string(size)))
    return result;
  if (!allocated.contain(source, size))
    return kInvalidValue;
  std::memcpy(destination, toPointer(source), size);
  return 0;
}

FAKE_CUDA cuMemcpyAsync(DevicePointer destination, DevicePointer source,
                        size_t size, CUstream_st *) {
  if (Result result = enterInContext("cuMemcpyAsync", std::to_string(size)))
    return result;
  if (!destination || !source)
    return kInvalidValue;
  std::memcpy(toPointer(destination), toPointer(source), size);
  return 0;
}

template <typename T>
static Result fill(const char *call, DevicePointer destination, T value,
                   size_t count) {
  if (Result result = enterInContext(call, std::to_string(count)))
    return result;
  if (!allocated.contain(destination, count * sizeof(T)))
    return kInvalidValue;
  std::fill_n(static_cast<T *>(toPointer(destination)), count, value);
  return 0;
}

FAKE_CUDA cuMemsetD16Async(DevicePointer destination, unsigned short value,
                           size_t count, CUstream_st *) {
  return fill("cuMemsetD16Async", destination, value, count);
}

FAKE_CUDA cuMemsetD32Async(DevicePointer destination, unsigned value,
                           size_t count, CUstream_st *) {
  return fill("cuMemsetD32Async", destination, value, count);
}

FAKE_CUDA cuMemHostRegister_v2(void *pointer, size_t size, unsigned) {
  registered.add(pointer, size);
  return enterInContext("cuMemHostRegister", std::to_string(size));
}

FAKE_CUDA cuMemHostUnregister(void *pointer) {
  if (Result result = enterInContext("cuMemHostUnregister"))
    return result;
  return registered.remove(pointer) ? 0 : kInvalidValue;
}
