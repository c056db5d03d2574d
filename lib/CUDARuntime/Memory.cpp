//===- Memory.cpp - Memory, streams and events ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace fad::cuda;

/// Calls an allocation function of the driver, which rejects empty allocations.
template <typename Call>
static FadCudaStatus allocate(const char *name, size_t bytes, void **pointer,
                              Call call) {
  if (!pointer)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot allocate memory: no place for its address");
  if (!bytes) {
    *pointer = nullptr;
    return FAD_CUDA_SUCCESS;
  }
  DevicePointer allocated = 0;
  FadCudaStatus status = callInContext(
      name, [&](const Driver &driver) { return call(driver, &allocated); });
  if (status == FAD_CUDA_DRIVER_ERROR)
    return fail(status, "cannot allocate " + std::to_string(bytes) +
                            " bytes: " + fadCudaGetErrorMessage());
  if (!status)
    *pointer = reinterpret_cast<void *>(allocated);
  return status;
}

FadCudaStatus fadCudaMalloc(size_t bytes, void **pointer) {
  return allocate("cuMemAlloc", bytes, pointer,
                  [&](const Driver &driver, DevicePointer *allocated) {
                    return driver.cuMemAlloc(allocated, bytes);
                  });
}

FadCudaStatus fadCudaMallocManaged(size_t bytes, void **pointer) {
  return allocate("cuMemAllocManaged", bytes, pointer,
                  [&](const Driver &driver, DevicePointer *allocated) {
                    return driver.cuMemAllocManaged(allocated, bytes,
                                                    kMemAttachGlobal);
                  });
}

FadCudaStatus fadCudaFree(void *pointer) {
  if (!pointer)
    return FAD_CUDA_SUCCESS;
  return callInContext("cuMemFree", [&](const Driver &driver) {
    return driver.cuMemFree(toDevicePointer(pointer));
  });
}

FadCudaStatus fadCudaCopyToDevice(void *destination, const void *source,
                                  size_t bytes, FadCudaStream stream) {
  if (!bytes)
    return FAD_CUDA_SUCCESS;
  return callInContext("cuMemcpyHtoDAsync", [&](const Driver &driver) {
    return driver.cuMemcpyHtoDAsync(toDevicePointer(destination), source, bytes,
                                    toStream(stream));
  });
}

FadCudaStatus fadCudaCopyToHost(void *destination, const void *source,
                                size_t bytes, FadCudaStream stream) {
  if (!bytes)
    return FAD_CUDA_SUCCESS;
  return callInContext("cuMemcpyDtoHAsync", [&](const Driver &driver) {
    return driver.cuMemcpyDtoHAsync(destination, toDevicePointer(source), bytes,
                                    toStream(stream));
  });
}

FadCudaStatus fadCudaCopy(void *destination, const void *source, size_t bytes,
                          FadCudaStream stream) {
  if (!bytes)
    return FAD_CUDA_SUCCESS;
  return callInContext("cuMemcpyAsync", [&](const Driver &driver) {
    return driver.cuMemcpyAsync(toDevicePointer(destination),
                                toDevicePointer(source), bytes,
                                toStream(stream));
  });
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// Calls the driver with an event; a null pointer is an error without the call.
template <typename Call>
static FadCudaStatus callWithEvent(const char *name, FadCudaEvent event,
                                   Call call) {
  if (event)
    return callInContext(name, call);
  return fail(FAD_CUDA_INVALID_ARGUMENT,
              std::string(name) + ": the event is a null pointer");
}

FadCudaStatus fadCudaStreamCreate(FadCudaStream *stream) {
  if (!stream)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot create a stream: no place for its handle");
  CUstream_st *created = nullptr;
  FadCudaStatus status =
      callInContext("cuStreamCreate", [&](const Driver &driver) {
        return driver.cuStreamCreate(&created, kStreamNonBlocking);
      });
  if (!status)
    *stream = created;
  return status;
}

FadCudaStatus fadCudaStreamDestroy(FadCudaStream stream) {
  if (!stream)
    return FAD_CUDA_SUCCESS;
  return callInContext("cuStreamDestroy", [&](const Driver &driver) {
    return driver.cuStreamDestroy(toStream(stream));
  });
}

FadCudaStatus fadCudaStreamSynchronize(FadCudaStream stream) {
  return callInContext("cuStreamSynchronize", [&](const Driver &driver) {
    return driver.cuStreamSynchronize(toStream(stream));
  });
}

FadCudaStatus fadCudaStreamIsCapturing(FadCudaStream stream, int *isCapturing) {
  if (!isCapturing)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot tell whether a stream is captured: no place for the "
                "answer");
  // CUstreamCaptureStatus: 0 is none, and what was captured may be invalid.
  int state = 0;
  FadCudaStatus status =
      callInContext("cuStreamIsCapturing", [&](const Driver &driver) {
        return driver.cuStreamIsCapturing
                   ? driver.cuStreamIsCapturing(toStream(stream), &state)
                   : 0;
      });
  if (!status)
    *isCapturing = state != 0;
  return status;
}

FadCudaStatus fadCudaStreamWaitEvent(FadCudaStream stream, FadCudaEvent event) {
  return callWithEvent("cuStreamWaitEvent", event, [&](const Driver &driver) {
    return driver.cuStreamWaitEvent(toStream(stream), toEvent(event), 0);
  });
}

FadCudaStatus fadCudaEventCreate(FadCudaEvent *event) {
  if (!event)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot create an event: no place for its handle");
  CUevent_st *created = nullptr;
  FadCudaStatus status =
      callInContext("cuEventCreate", [&](const Driver &driver) {
        return driver.cuEventCreate(&created, kEventDefault);
      });
  if (!status)
    *event = created;
  return status;
}

FadCudaStatus fadCudaEventDestroy(FadCudaEvent event) {
  if (!event)
    return FAD_CUDA_SUCCESS;
  return callInContext("cuEventDestroy", [&](const Driver &driver) {
    return driver.cuEventDestroy(toEvent(event));
  });
}

FadCudaStatus fadCudaEventRecord(FadCudaEvent event, FadCudaStream stream) {
  return callWithEvent("cuEventRecord", event, [&](const Driver &driver) {
    return driver.cuEventRecord(toEvent(event), toStream(stream));
  });
}

FadCudaStatus fadCudaEventSynchronize(FadCudaEvent event) {
  return callWithEvent("cuEventSynchronize", event, [&](const Driver &driver) {
    return driver.cuEventSynchronize(toEvent(event));
  });
}

FadCudaStatus fadCudaEventElapsedTime(FadCudaEvent start, FadCudaEvent stop,
                                      float *milliseconds) {
  if (!stop)
    start = nullptr;
  return callWithEvent("cuEventElapsedTime", start, [&](const Driver &driver) {
    return driver.cuEventElapsedTime(milliseconds, toEvent(start),
                                     toEvent(stop));
  });
}
