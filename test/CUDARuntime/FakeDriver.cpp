//===- FakeDriver.cpp - A substitute for a CUDA driver in tests -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The log, errors, devices and contexts.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <unistd.h>
#include <vector>

using namespace fake;

static std::atomic<bool> initialized{false};

struct CUctx_st {
  int device;
};

//===----------------------------------------------------------------------===//
// Log and failures
//===----------------------------------------------------------------------===//

int fake::getNumber(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

void fake::record(const std::string &line) {
  const char *path = std::getenv("FAD_FAKE_CUDA_LOG");
  if (!path)
    return;
  // One write a line, which other threads and processes do not cut in two.
  int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  std::string text = line + "\n";
  if (::write(file, text.data(), text.size()) < 0)
    std::perror(path);
  ::close(file);
}

/// What FAD_FAKE_CUDA_FAIL says about a call.
static Result getFailure(const std::string &name) {
  static std::mutex mutex;
  static std::map<std::string, int> counts;
  std::lock_guard<std::mutex> lock(mutex);
  int count = ++counts[name];
  const char *text = std::getenv("FAD_FAKE_CUDA_FAIL");
  std::string failures = text ? std::string(",") + text : "";
  size_t at = failures.find("," + name + "=");
  if (at == std::string::npos)
    return 0;
  int code = 0, when = 0;
  std::sscanf(failures.c_str() + at + name.size() + 2, "%d@%d", &code, &when);
  return !when || when == count ? code : 0;
}

Result fake::enter(const std::string &name, const std::string &details) {
  record(details.empty() ? name : name + " " + details);
  if (Result failure = getFailure(name))
    return failure;
  return initialized || name == "cuInit" ? 0 : kNotInitialized;
}

Result fake::enterInContext(const std::string &name,
                            const std::string &details) {
  if (Result result = enter(name, details))
    return result;
  return getCurrentDevice() < 0 ? kInvalidContext : 0;
}

/// Names and texts of some errors; others have none, as new ones may.
static const std::map<Result, std::pair<const char *, const char *>> errors = {
    {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {3, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {4, {"CUDA_ERROR_DEINITIALIZED", "driver shutting down"}},
    {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {222,
     {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
      "the provided PTX was compiled with an unsupported toolchain."}},
    {400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {700,
     {"CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered"}},
    {999, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
};

FAKE_CUDA cuGetErrorName(Result error, const char **name) {
  auto found = errors.find(error);
  *name = found == errors.end() ? nullptr : found->second.first;
  return *name ? 0 : kInvalidValue;
}

FAKE_CUDA cuGetErrorString(Result error, const char **text) {
  auto found = errors.find(error);
  *text = found == errors.end() ? nullptr : found->second.second;
  return *text ? 0 : kInvalidValue;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static int getDeviceCount() { return getNumber("FAD_FAKE_CUDA_DEVICES", 1); }

FAKE_CUDA cuInit(unsigned flags) {
  if (Result result = enter("cuInit"))
    return result;
  initialized = true;
  return flags ? kInvalidValue : 0;
}

FAKE_CUDA cuDriverGetVersion(int *version) {
  if (Result result = enter("cuDriverGetVersion"))
    return result;
  if (!version)
    return kInvalidValue;
  *version = getNumber("FAD_FAKE_CUDA_VERSION", 13000);
  return 0;
}

FAKE_CUDA cuDeviceGetCount(int *count) {
  if (Result result = enter("cuDeviceGetCount"))
    return result;
  if (!count)
    return kInvalidValue;
  *count = getDeviceCount();
  return 0;
}

FAKE_CUDA cuDeviceGet(int *device, int ordinal) {
  if (Result result = enter("cuDeviceGet", std::to_string(ordinal)))
    return result;
  *device = ordinal;
  return ordinal >= 0 && ordinal < getDeviceCount() ? 0 : kInvalidDevice;
}

FAKE_CUDA cuDeviceGetName(char *name, int size, int device) {
  if (Result result = enter("cuDeviceGetName"))
    return result;
  if (!name || size <= 0)
    return kInvalidValue;
  std::snprintf(name, size, "Fake GPU %d", device);
  return 0;
}

FAKE_CUDA cuDeviceGetAttribute(int *value, int attribute, int) {
  if (Result result = enter("cuDeviceGetAttribute", std::to_string(attribute)))
    return result;
  if (!value)
    return kInvalidValue;
  int capability = getNumber("FAD_FAKE_CUDA_CAPABILITY", 90);
  switch (attribute) {
  case 16:
    *value = 132;
    return 0;
  case 75:
    *value = capability / 10;
    return 0;
  case 76:
    *value = capability % 10;
    return 0;
  }
  return kInvalidValue;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// Those that were pushed in this thread.
static thread_local std::vector<CUctx_st *> contexts;

int fake::getCurrentDevice() {
  return contexts.empty() ? -1 : contexts.back()->device;
}

FAKE_CUDA cuDevicePrimaryCtxRetain(CUctx_st **context, int device) {
  static CUctx_st primary[8] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
  *context = &primary[device];
  return enter("cuDevicePrimaryCtxRetain", std::to_string(device));
}

FAKE_CUDA cuCtxCreate_v2(CUctx_st **context, unsigned, int device) {
  if (Result result = enter("cuCtxCreate", std::to_string(device)))
    return result;
  static CUctx_st created;
  created.device = device;
  *context = &created;
  contexts.push_back(*context);
  return 0;
}

// Asked at each call: recording it would hide the rest of the log.
FAKE_CUDA cuCtxGetCurrent(CUctx_st **context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return getFailure("cuCtxGetCurrent");
}

FAKE_CUDA cuCtxSetCurrent(CUctx_st *context) {
  if (Result result = enter("cuCtxSetCurrent", std::to_string(context->device)))
    return result;
  if (!contexts.empty())
    contexts.pop_back();
  contexts.push_back(context);
  return 0;
}

FAKE_CUDA cuCtxPushCurrent_v2(CUctx_st *context) {
  if (Result result =
          enter("cuCtxPushCurrent", std::to_string(context->device)))
    return result;
  contexts.push_back(context);
  return 0;
}

FAKE_CUDA cuCtxPopCurrent_v2(CUctx_st **context) {
  if (Result result = enterInContext("cuCtxPopCurrent"))
    return result;
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}
