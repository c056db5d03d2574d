//===- Driver.cpp - Opens the CUDA driver ---------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <vector>

using namespace fad::cuda;

// Nothing that lives as long as the process has a destructor: compiled code
// unloads its modules when the program ends, in whatever order that happens.

/// The thread's message.
static thread_local char errorMessage[16384];

FadCudaStatus fad::cuda::fail(FadCudaStatus status,
                              const std::string &message) {
  static constexpr char kMore[] = "...";
  size_t room = sizeof(errorMessage) - sizeof(kMore);
  size_t size = std::min(message.size(), room);
  std::memcpy(errorMessage, message.data(), size);
  std::strcpy(errorMessage + size, size < message.size() ? kMore : "");
  return status;
}

const char *fadCudaGetErrorMessage() { return errorMessage; }

FadCudaStatus fad::cuda::check(const Driver &driver, const std::string &what,
                               Result result, FadCudaStatus status) {
  if (!result)
    return FAD_CUDA_SUCCESS;
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  std::string message =
      what + ": " + (name ? name : "error " + std::to_string(result));
  if (text)
    message += std::string(": ") + text;
  return fail(status, message);
}

/// Fills the table. Returns the first symbol that is missing, or null.
static const char *findFunctions(void *library, Driver &driver) {
#define FAD_CUDA_FUNCTION(name, symbol, ...)                                   \
  driver.name =                                                                \
      reinterpret_cast<Result (*)(__VA_ARGS__)>(dlsym(library, #symbol));      \
  if (!driver.name)                                                            \
    return #symbol;
#define FAD_CUDA_OPTIONAL_FUNCTION(name, symbol, ...)                          \
  driver.name =                                                                \
      reinterpret_cast<Result (*)(__VA_ARGS__)>(dlsym(library, #symbol));
#include "Functions.def"
  return nullptr;
}

/// Opens the library, and initializes the driver.
static FadCudaStatus openDriver(Driver &driver) {
  const char *chosen = std::getenv("FAD_CUDA_DRIVER");
  std::string name = chosen && *chosen ? chosen : "libcuda.so.1";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(FAD_CUDA_NO_DRIVER,
                std::string("there is no CUDA driver: ") + dlerror() +
                    "; install NVIDIA's driver, or set FAD_CUDA_DRIVER to "
                    "where its library is");
  if (const char *missing = findFunctions(library, driver))
    return fail(FAD_CUDA_NO_DRIVER, "there is no CUDA driver: " + name +
                                        " does not have the function " +
                                        missing);
  Result result = driver.cuInit(0);
  if (result)
    return check(
        driver,
        result == kErrorNoDevice ? "there is no CUDA device: cuInit"
                                 : "the CUDA driver does not start: cuInit",
        result,
        result == kErrorNoDevice ? FAD_CUDA_NO_DEVICE : FAD_CUDA_INIT_FAILED);
  int count = 0;
  if (FadCudaStatus status =
          check(driver, "cuDeviceGetCount", driver.cuDeviceGetCount(&count),
                FAD_CUDA_INIT_FAILED))
    return status;
  if (!count)
    return fail(FAD_CUDA_NO_DEVICE,
                "there is no CUDA device: the driver counts none");
  return FAD_CUDA_SUCCESS;
}

FadCudaStatus fad::cuda::getDriver(const Driver *&driver) {
  static std::mutex mutex;
  static std::atomic<const Driver *> opened{nullptr};
  static Driver table;
  static FadCudaStatus failure = FAD_CUDA_SUCCESS;
  static std::string *failureMessage;
  driver = opened.load(std::memory_order_acquire);
  if (driver)
    return FAD_CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex);
  if (failure)
    return fail(failure, *failureMessage);
  if (!opened.load()) {
    failure = openDriver(table);
    if (failure) {
      failureMessage = new std::string(errorMessage);
      return failure;
    }
    opened.store(&table, std::memory_order_release);
  }
  driver = &table;
  return FAD_CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static FadCudaStatus getDevice(const Driver &driver, int ordinal,
                               Device &device) {
  return check(driver, "device " + std::to_string(ordinal) + ": cuDeviceGet",
               driver.cuDeviceGet(&device, ordinal));
}

/// Retains the primary context of a device the first time that it is asked for.
static FadCudaStatus getPrimaryContext(const Driver &driver, int ordinal,
                                       CUctx_st *&context) {
  static std::mutex mutex;
  static std::vector<CUctx_st *> &contexts = *new std::vector<CUctx_st *>();
  Device device;
  if (FadCudaStatus status = getDevice(driver, ordinal, device))
    return status;
  std::lock_guard<std::mutex> lock(mutex);
  if (contexts.size() <= static_cast<size_t>(ordinal))
    contexts.resize(ordinal + 1);
  if (!contexts[ordinal])
    if (FadCudaStatus status =
            check(driver, "cuDevicePrimaryCtxRetain",
                  driver.cuDevicePrimaryCtxRetain(&contexts[ordinal], device)))
      return status;
  context = contexts[ordinal];
  return FAD_CUDA_SUCCESS;
}

FadCudaStatus fad::cuda::getDriverInContext(const Driver *&driver,
                                            CUctx_st *&context) {
  if (FadCudaStatus status = getDriver(driver))
    return status;
  context = nullptr;
  if (FadCudaStatus status =
          check(*driver, "cuCtxGetCurrent", driver->cuCtxGetCurrent(&context)))
    return status;
  if (context)
    return FAD_CUDA_SUCCESS;
  if (FadCudaStatus status = getPrimaryContext(*driver, 0, context))
    return status;
  return check(*driver, "cuCtxPushCurrent", driver->cuCtxPushCurrent(context));
}

FadCudaStatus fad::cuda::getDriverInContext(const Driver *&driver) {
  CUctx_st *context;
  return getDriverInContext(driver, context);
}

ScopedContext::ScopedContext(const Driver &driver, CUctx_st *context)
    : driver(driver) {
  CUctx_st *current = nullptr;
  result = driver.cuCtxGetCurrent(&current);
  if (result || current == context)
    return;
  result = driver.cuCtxPushCurrent(context);
  pushed = !result;
}

ScopedContext::~ScopedContext() {
  CUctx_st *context;
  if (pushed)
    driver.cuCtxPopCurrent(&context);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

FadCudaStatus fadCudaInit() {
  const Driver *driver;
  return getDriver(driver);
}

/// Calls the driver with a device.
template <typename Call>
static FadCudaStatus callForDevice(const char *name, int ordinal, Call call) {
  const Driver *driver;
  if (FadCudaStatus status = getDriver(driver))
    return status;
  Device device;
  if (FadCudaStatus status = getDevice(*driver, ordinal, device))
    return status;
  return check(*driver, name, call(*driver, device));
}

FadCudaStatus fadCudaGetDriverVersion(int *version) {
  const Driver *driver;
  if (FadCudaStatus status = getDriver(driver))
    return status;
  return check(*driver, "cuDriverGetVersion",
               driver->cuDriverGetVersion(version));
}

FadCudaStatus fadCudaGetDeviceCount(int *count) {
  const Driver *driver;
  if (FadCudaStatus status = getDriver(driver))
    return status;
  return check(*driver, "cuDeviceGetCount", driver->cuDeviceGetCount(count));
}

FadCudaStatus fadCudaGetDeviceName(int device, char *name, int size) {
  return callForDevice("cuDeviceGetName", device,
                       [&](const Driver &driver, Device device) {
                         return driver.cuDeviceGetName(name, size, device);
                       });
}

FadCudaStatus fadCudaGetComputeCapability(int device, int *major, int *minor) {
  if (!major || !minor)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot get the compute capability: no place for it");
  return callForDevice("cuDeviceGetAttribute", device,
                       [&](const Driver &driver, Device device) {
                         int found = 0;
                         Result result = driver.cuDeviceGetAttribute(
                             &found, kAttributeComputeCapabilityMajor, device);
                         if (!result)
                           result = driver.cuDeviceGetAttribute(
                               minor, kAttributeComputeCapabilityMinor, device);
                         if (!result)
                           *major = found;
                         return result;
                       });
}

FadCudaStatus fadCudaGetMultiprocessorCount(int device, int *count) {
  return callForDevice("cuDeviceGetAttribute", device,
                       [&](const Driver &driver, Device device) {
                         return driver.cuDeviceGetAttribute(
                             count, kAttributeMultiprocessorCount, device);
                       });
}

FadCudaStatus fadCudaSetDevice(int device) {
  const Driver *driver;
  if (FadCudaStatus status = getDriver(driver))
    return status;
  CUctx_st *context;
  if (FadCudaStatus status = getPrimaryContext(*driver, device, context))
    return status;
  return check(*driver, "cuCtxSetCurrent", driver->cuCtxSetCurrent(context));
}
