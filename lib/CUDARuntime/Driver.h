//===- Driver.h - The functions of the CUDA driver --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CUDARUNTIME_DRIVER_H
#define FAD_LIB_CUDARUNTIME_DRIVER_H

#include "fad-c/CUDARuntime.h"
#include <cstddef>
#include <string>

// The driver's types behind its handles.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;

namespace fad::cuda {
// CUresult, an enumeration, and other types of the driver's functions.
using Result = int;
using Device = int;
using DevicePointer = unsigned long long;

/// CUlaunchAttribute, for the dimensions of a cluster.
struct ClusterAttribute {
  static constexpr int kId = 4;
  int id = kId;
  char padding[4] = {};
  unsigned x, y, z;
  char rest[52] = {};
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream_st *stream;
  ClusterAttribute *attributes;
  unsigned attributeCount;
};

// Numbers of the driver's enumerations.
constexpr Result kErrorDeinitialized = 4;
constexpr Result kErrorNoDevice = 100;
constexpr Result kErrorNoBinaryForGpu = 209;
constexpr Result kErrorInvalidPtx = 218;
constexpr Result kErrorJitCompilerNotFound = 221;
constexpr Result kErrorUnsupportedPtxVersion = 222;
constexpr Result kErrorJitCompilationDisabled = 223;
constexpr Result kErrorContextIsDestroyed = 709;
constexpr int kAttributeMultiprocessorCount = 16;
constexpr int kAttributeComputeCapabilityMajor = 75;
constexpr int kAttributeComputeCapabilityMinor = 76;
constexpr int kFunctionMaxDynamicSharedBytes = 8;
constexpr int kJitInfoLogBuffer = 3;
constexpr int kJitInfoLogBufferSize = 4;
constexpr int kJitErrorLogBuffer = 5;
constexpr int kJitErrorLogBufferSize = 6;
constexpr int kJitOptimizationLevel = 7;
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kStreamCaptureModeRelaxed = 2;
constexpr unsigned kEventDefault = 0;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kMemAttachGlobal = 1;

/// A pointer to each function of the driver that the runtime calls.
struct Driver {
#define FAD_CUDA_FUNCTION(name, symbol, ...) Result (*name)(__VA_ARGS__);
#define FAD_CUDA_OPTIONAL_FUNCTION FAD_CUDA_FUNCTION
#include "Functions.def"
};

/// Sets the message of the thread, and returns `status`.
FadCudaStatus fail(FadCudaStatus status, const std::string &message);

/// Success if `result` is; otherwise the message has `what`, "cuMemAlloc" for
/// example, the error's name, and the driver's description of it.
FadCudaStatus check(const Driver &driver, const std::string &what,
                    Result result,
                    FadCudaStatus status = FAD_CUDA_DRIVER_ERROR);

/// Opens and initializes the driver the first time.
FadCudaStatus getDriver(const Driver *&driver);

/// The same, with a context that is current in this thread: the primary one of
/// device 0 if none is.
FadCudaStatus getDriverInContext(const Driver *&driver);
FadCudaStatus getDriverInContext(const Driver *&driver, CUctx_st *&context);

/// Calls the driver in a context that is current.
template <typename Call>
FadCudaStatus callInContext(const char *name, Call call) {
  const Driver *driver;
  if (FadCudaStatus status = getDriverInContext(driver))
    return status;
  return check(*driver, name, call(*driver));
}

/// Keeps a context current during its lifetime.
class ScopedContext {
public:
  ScopedContext(const Driver &driver, CUctx_st *context);
  ~ScopedContext();
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;

  Result getResult() const { return result; }

private:
  const Driver &driver;
  bool pushed = false;
  Result result;
};

inline DevicePointer toDevicePointer(const void *pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}
inline CUstream_st *toStream(void *stream) {
  return static_cast<CUstream_st *>(stream);
}
inline CUevent_st *toEvent(void *event) {
  return static_cast<CUevent_st *>(event);
}
} // namespace fad::cuda

#endif // FAD_LIB_CUDARUNTIME_DRIVER_H
