//===- UpstreamABI.cpp - Functions called by gpu-to-llvm's code -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that MLIR's lowering of the gpu dialect to LLVM calls. None of
// them returns an error, so the first one is printed and kept for
// fadCudaTakeError. What would have been returned is null, which all of them
// can be given.
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

using namespace fad::cuda;

#define FAD_CUDA_UPSTREAM extern "C" FAD_CUDA_EXPORTED

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
/// The first error, and the number of later ones.
struct ErrorRecord {
  std::mutex mutex;
  FadCudaStatus status = FAD_CUDA_SUCCESS;
  std::string message;
  size_t laterCount = 0;
};
} // namespace

static ErrorRecord &getErrorRecord() {
  static ErrorRecord &record = *new ErrorRecord();
  return record;
}

/// Records the error of a function, if there is one. Returns whether it
/// succeeded.
static bool report(const char *function, FadCudaStatus status) {
  if (!status)
    return true;
  ErrorRecord &record = getErrorRecord();
  std::lock_guard<std::mutex> lock(record.mutex);
  // Later errors mostly follow from the first.
  if (record.status) {
    ++record.laterCount;
    return false;
  }
  record.status = status;
  record.message = std::string(function) + ": " + fadCudaGetErrorMessage();
  std::fprintf(stderr, "error: %s\n", record.message.c_str());
  return false;
}

/// Whether no error waits to be taken.
static bool isSound() {
  ErrorRecord &record = getErrorRecord();
  std::lock_guard<std::mutex> lock(record.mutex);
  return !record.status;
}

FadCudaStatus fadCudaTakeError() {
  ErrorRecord &record = getErrorRecord();
  std::lock_guard<std::mutex> lock(record.mutex);
  FadCudaStatus status = record.status;
  if (!status)
    return FAD_CUDA_SUCCESS;
  std::string message = record.message;
  if (record.laterCount)
    message += "\nerrors after it: " + std::to_string(record.laterCount);
  record.status = FAD_CUDA_SUCCESS;
  record.message.clear();
  record.laterCount = 0;
  return fail(status, message);
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

namespace {
/// Compiled code loads a module once, at its start, and may select a device
/// later. So a module is loaded into each context in which it is used.
struct UpstreamModule {
  const void *image;
  size_t size;
  int optimizationLevel;
  std::mutex mutex;
  std::vector<FadCudaModule> loaded;

  /// Finds the module of the current context.
  FadCudaStatus get(FadCudaModule &module) {
    const Driver *driver;
    CUctx_st *context;
    if (FadCudaStatus status = getDriverInContext(driver, context))
      return status;
    std::lock_guard<std::mutex> lock(mutex);
    for (FadCudaModule candidate : loaded)
      if (candidate->context == context) {
        module = candidate;
        return FAD_CUDA_SUCCESS;
      }
    FadCudaStatus status = loadModule(image, size, optimizationLevel, module);
    if (!status)
      loaded.push_back(module);
    return status;
  }
};
} // namespace

static UpstreamModule *load(const char *function, const void *image,
                            size_t size, int optimizationLevel) {
  auto *module = new UpstreamModule{image, size, optimizationLevel, {}, {}};
  FadCudaModule loaded;
  if (report(function, module->get(loaded)))
    return module;
  delete module;
  return nullptr;
}

FAD_CUDA_UPSTREAM void *mgpuModuleLoad(void *data, size_t size) {
  return load("mgpuModuleLoad", data, size, kMaxOptimizationLevel);
}

FAD_CUDA_UPSTREAM void *mgpuModuleLoadJIT(void *data, int optimizationLevel) {
  return load("mgpuModuleLoadJIT", data,
              data ? std::strlen(static_cast<char *>(data)) : 0,
              optimizationLevel);
}

FAD_CUDA_UPSTREAM void mgpuModuleUnload(void *handle) {
  auto *module = static_cast<UpstreamModule *>(handle);
  if (!module)
    return;
  for (FadCudaModule loaded : module->loaded)
    report("mgpuModuleUnload", fadCudaModuleUnload(loaded));
  delete module;
}

FAD_CUDA_UPSTREAM void *mgpuModuleGetFunction(void *handle, const char *name) {
  auto *module = static_cast<UpstreamModule *>(handle);
  FadCudaModule loaded = nullptr;
  FadCudaFunction function = nullptr;
  FadCudaStatus status = module ? module->get(loaded) : FAD_CUDA_SUCCESS;
  if (!status)
    status = fadCudaModuleGetFunction(loaded, name, &function);
  report("mgpuModuleGetFunction", status);
  return function;
}

FAD_CUDA_UPSTREAM void mgpuLaunchKernel(void *function, intptr_t gridX,
                                        intptr_t gridY, intptr_t gridZ,
                                        intptr_t blockX, intptr_t blockY,
                                        intptr_t blockZ, int32_t sharedBytes,
                                        void *stream, void **parameters,
                                        void **extra, size_t) {
  LaunchShape shape = {{gridX, gridY, gridZ},
                       {blockX, blockY, blockZ},
                       sharedBytes,
                       /*cluster=*/nullptr};
  if (isSound())
    report("mgpuLaunchKernel", launch(static_cast<FadCudaFunction>(function),
                                      shape, stream, parameters, extra));
}

FAD_CUDA_UPSTREAM void
mgpuLaunchClusterKernel(void *function, intptr_t clusterX, intptr_t clusterY,
                        intptr_t clusterZ, intptr_t gridX, intptr_t gridY,
                        intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                        intptr_t blockZ, int32_t sharedBytes, void *stream,
                        void **parameters, void **extra, size_t) {
  const long long cluster[] = {clusterX, clusterY, clusterZ};
  LaunchShape shape = {
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, cluster};
  if (isSound())
    report("mgpuLaunchClusterKernel",
           launch(static_cast<FadCudaFunction>(function), shape, stream,
                  parameters, extra));
}

FAD_CUDA_UPSTREAM void mgpuSetDefaultDevice(int32_t device) {
  report("mgpuSetDefaultDevice", fadCudaSetDevice(device));
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

FAD_CUDA_UPSTREAM void *mgpuStreamCreate() {
  FadCudaStream stream = nullptr;
  report("mgpuStreamCreate", fadCudaStreamCreate(&stream));
  return stream;
}

FAD_CUDA_UPSTREAM void mgpuStreamDestroy(void *stream) {
  report("mgpuStreamDestroy", fadCudaStreamDestroy(stream));
}

FAD_CUDA_UPSTREAM void mgpuStreamSynchronize(void *stream) {
  report("mgpuStreamSynchronize", fadCudaStreamSynchronize(stream));
}

FAD_CUDA_UPSTREAM void mgpuStreamWaitEvent(void *stream, void *event) {
  report("mgpuStreamWaitEvent", fadCudaStreamWaitEvent(stream, event));
}

FAD_CUDA_UPSTREAM void *mgpuEventCreate() {
  CUevent_st *event = nullptr;
  report("mgpuEventCreate",
         callInContext("cuEventCreate", [&](const Driver &driver) {
           return driver.cuEventCreate(&event, kEventDisableTiming);
         }));
  return event;
}

FAD_CUDA_UPSTREAM void mgpuEventDestroy(void *event) {
  report("mgpuEventDestroy", fadCudaEventDestroy(event));
}

FAD_CUDA_UPSTREAM void mgpuEventSynchronize(void *event) {
  report("mgpuEventSynchronize", fadCudaEventSynchronize(event));
}

FAD_CUDA_UPSTREAM void mgpuEventRecord(void *event, void *stream) {
  report("mgpuEventRecord", fadCudaEventRecord(event, stream));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// Compiled code writes to memory shared with the device without testing the
/// allocation. If the driver has none, the code gets host memory, so that it
/// reaches its end, where the caller asks for the error.
class Substitutes {
public:
  void *allocate(size_t bytes) {
    void *pointer = std::malloc(bytes);
    std::lock_guard<std::mutex> lock(mutex);
    pointers.insert(pointer);
    return pointer;
  }
  /// False if `pointer` is no substitute.
  bool free(void *pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!pointers.erase(pointer))
      return false;
    std::free(pointer);
    return true;
  }

private:
  std::mutex mutex;
  std::set<void *> pointers;
};
} // namespace

static Substitutes &getSubstitutes() {
  static Substitutes &substitutes = *new Substitutes();
  return substitutes;
}

FAD_CUDA_UPSTREAM void *mgpuMemAlloc(uint64_t bytes, void * /*stream*/,
                                     bool isHostShared) {
  void *pointer = nullptr;
  if (!isHostShared)
    report("mgpuMemAlloc", fadCudaMalloc(bytes, &pointer));
  else if (!report("mgpuMemAlloc", fadCudaMallocManaged(bytes, &pointer)))
    pointer = getSubstitutes().allocate(bytes);
  return pointer;
}

FAD_CUDA_UPSTREAM void mgpuMemFree(void *pointer, void * /*stream*/) {
  if (!getSubstitutes().free(pointer))
    report("mgpuMemFree", fadCudaFree(pointer));
}

FAD_CUDA_UPSTREAM void mgpuMemcpy(void *destination, void *source, size_t bytes,
                                  void *stream) {
  if (isSound())
    report("mgpuMemcpy", fadCudaCopy(destination, source, bytes, stream));
}

FAD_CUDA_UPSTREAM void mgpuMemset32(void *destination, unsigned value,
                                    size_t count, void *stream) {
  if (count && isSound())
    report("mgpuMemset32",
           callInContext("cuMemsetD32Async", [&](const Driver &driver) {
             return driver.cuMemsetD32Async(toDevicePointer(destination), value,
                                            count, toStream(stream));
           }));
}

FAD_CUDA_UPSTREAM void mgpuMemset16(void *destination, unsigned short value,
                                    size_t count, void *stream) {
  if (count && isSound())
    report("mgpuMemset16",
           callInContext("cuMemsetD16Async", [&](const Driver &driver) {
             return driver.cuMemsetD16Async(toDevicePointer(destination), value,
                                            count, toStream(stream));
           }));
}

FAD_CUDA_UPSTREAM void mgpuMemHostRegister(void *pointer, uint64_t bytes) {
  if (bytes)
    report("mgpuMemHostRegister",
           callInContext("cuMemHostRegister", [&](const Driver &driver) {
             return driver.cuMemHostRegister(pointer, bytes, /*flags=*/0);
           }));
}

FAD_CUDA_UPSTREAM void mgpuMemHostUnregister(void *pointer) {
  report("mgpuMemHostUnregister",
         callInContext("cuMemHostUnregister", [&](const Driver &driver) {
           return driver.cuMemHostUnregister(pointer);
         }));
}

namespace {
/// LLVM's representation of a memref.
struct MemRef {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
};
} // namespace

/// Finds the bytes of a memref. False if elements are not one after another.
static bool getBytes(int64_t rank, const MemRef &memref, int64_t elementBytes,
                     char *&begin, uint64_t &bytes) {
  int64_t count = 1;
  bool dense = true;
  for (int64_t i = rank - 1; i >= 0; --i) {
    int64_t size = memref.sizesAndStrides[i];
    dense &= size == 1 || memref.sizesAndStrides[rank + i] == count;
    count *= size;
  }
  begin = memref.aligned + memref.offset * elementBytes;
  bytes = count * elementBytes;
  return dense || !count;
}

FAD_CUDA_UPSTREAM void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                                 int64_t elementBytes) {
  char *begin;
  uint64_t bytes;
  if (getBytes(rank, *static_cast<MemRef *>(descriptor), elementBytes, begin,
               bytes))
    return mgpuMemHostRegister(begin, bytes);
  report("mgpuMemHostRegisterMemRef",
         fail(FAD_CUDA_INVALID_ARGUMENT,
              "a memref with gaps between its elements cannot be registered; "
              "copy it to a dense one"));
}

FAD_CUDA_UPSTREAM void mgpuMemHostUnregisterMemRef(int64_t rank,
                                                   void *descriptor,
                                                   int64_t elementBytes) {
  char *begin;
  uint64_t bytes;
  // Otherwise it was not registered.
  if (getBytes(rank, *static_cast<MemRef *>(descriptor), elementBytes, begin,
               bytes) &&
      bytes)
    mgpuMemHostUnregister(begin);
}
