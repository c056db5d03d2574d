//===- Module.cpp - Loads modules -----------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "Cache.h"
#include "Image.h"
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace fad::cuda;

namespace {
/// The options of a call that compiles or loads, and what the driver logs in
/// it.
class JitOptions {
public:
  explicit JitOptions(int optimizationLevel)
      : values{info.data(), toValue(kLogSize), error.data(), toValue(kLogSize),
               toValue(optimizationLevel)} {}
  JitOptions(const JitOptions &) = delete;
  JitOptions &operator=(const JitOptions &) = delete;

  unsigned getSize() const { return sizeof(keys) / sizeof(*keys); }
  int *getKeys() { return keys; }
  // The driver writes the sizes of the logs here, too.
  void **getValues() { return values; }

  /// What was logged, each log on lines of its own after a line break.
  std::string getLog() const {
    return getText("error log:", error) + getText("info log:", info);
  }

private:
  static constexpr size_t kLogSize = 8192;
  static void *toValue(uintptr_t value) {
    return reinterpret_cast<void *>(value);
  }
  static std::string getText(const char *title, const std::vector<char> &log) {
    std::string text = log.data();
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    if (text.empty())
      return text;
    // The log may quote the PTX, of which a terminal is to obey nothing.
    std::string escaped = std::string("\n") + title + "\n";
    for (unsigned char byte : text) {
      if ((byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\t') {
        escaped += static_cast<char>(byte);
        continue;
      }
      char code[4];
      std::snprintf(code, sizeof(code), "\\%02X", byte);
      escaped += code;
    }
    return escaped;
  }

  // One byte more, so that there always is an end.
  std::vector<char> info = std::vector<char>(kLogSize + 1);
  std::vector<char> error = std::vector<char>(kLogSize + 1);
  int keys[5] = {kJitInfoLogBuffer, kJitInfoLogBufferSize, kJitErrorLogBuffer,
                 kJitErrorLogBufferSize, kJitOptimizationLevel};
  void *values[5];
};

/// Compiles PTX, and owns the cubin.
class Linker {
public:
  Linker(const Driver &driver, int optimizationLevel)
      : driver(driver), options(optimizationLevel) {}
  ~Linker() {
    if (state)
      driver.cuLinkDestroy(state);
  }
  Linker(const Linker &) = delete;
  Linker &operator=(const Linker &) = delete;

  /// `what` is the beginning of the message of an error.
  FadCudaStatus compile(const std::string &what, const std::string &ptx);
  const void *getCubin() const { return cubin; }
  size_t getSize() const { return size; }

private:
  FadCudaStatus checkCall(const std::string &what, Result result);

  const Driver &driver;
  // The driver refers to them until the state is destroyed.
  JitOptions options;
  CUlinkState_st *state = nullptr;
  void *cubin = nullptr;
  size_t size = 0;
};
} // namespace

/// Adds what the driver logged to the message of an error.
static FadCudaStatus addLog(FadCudaStatus status, const JitOptions &options) {
  if (!status)
    return status;
  return fail(status, fadCudaGetErrorMessage() + options.getLog());
}

FadCudaStatus Linker::checkCall(const std::string &what, Result result) {
  return addLog(check(driver, what, result, FAD_CUDA_COMPILE_FAILED), options);
}

FadCudaStatus Linker::compile(const std::string &what, const std::string &ptx) {
  if (FadCudaStatus status =
          checkCall(what + ": cuLinkCreate",
                    driver.cuLinkCreate(options.getSize(), options.getKeys(),
                                        options.getValues(), &state)))
    return status;
  // With the null byte, which the driver asks for.
  if (FadCudaStatus status =
          checkCall(what + ": cuLinkAddData",
                    driver.cuLinkAddData(
                        state, kJitInputPtx, const_cast<char *>(ptx.c_str()),
                        ptx.size() + 1, "kernels", 0, nullptr, nullptr)))
    return status;
  return checkCall(what + ": cuLinkComplete",
                   driver.cuLinkComplete(state, &cubin, &size));
}

/// Loads an image that is whole into the current context.
static FadCudaStatus loadBinary(const Driver &driver, const void *image,
                                int optimizationLevel, CUmod_st *&handle) {
  JitOptions options(optimizationLevel);
  return addLog(
      check(driver, "cannot load the module: cuModuleLoadDataEx",
            driver.cuModuleLoadDataEx(&handle, image, options.getSize(),
                                      options.getKeys(), options.getValues())),
      options);
}

/// What a cubin depends on besides the PTX.
static FadCudaStatus getKey(const Driver &driver, CacheKey &key) {
  Device device;
  if (FadCudaStatus status =
          check(driver, "cuCtxGetDevice", driver.cuCtxGetDevice(&device)))
    return status;
  if (FadCudaStatus status =
          check(driver, "cuDeviceGetAttribute",
                driver.cuDeviceGetAttribute(
                    &key.major, kAttributeComputeCapabilityMajor, device)))
    return status;
  if (FadCudaStatus status =
          check(driver, "cuDeviceGetAttribute",
                driver.cuDeviceGetAttribute(
                    &key.minor, kAttributeComputeCapabilityMinor, device)))
    return status;
  return check(driver, "cuDriverGetVersion",
               driver.cuDriverGetVersion(&key.driverVersion));
}

/// Loads PTX, from the cache if it is there.
static FadCudaStatus loadPtx(const Driver &driver, const std::string &ptx,
                             int optimizationLevel, CUmod_st *&handle) {
  CacheKey key{0, 0, 0, optimizationLevel, ptx};
  if (FadCudaStatus status = getKey(driver, key))
    return status;
  std::string folder = getCacheFolder(), cubin;
  Digest digest = folder.empty() ? Digest() : key.getDigest();
  // What the driver refuses is compiled again, and replaced.
  if (readCache(folder, digest, cubin) &&
      !loadBinary(driver, cubin.data(), optimizationLevel, handle))
    return FAD_CUDA_SUCCESS;
  Linker linker(driver, optimizationLevel);
  std::string what = "cannot compile the PTX for sm_" +
                     std::to_string(key.major) + std::to_string(key.minor);
  if (FadCudaStatus status = linker.compile(what, ptx))
    return status;
  if (FadCudaStatus status =
          loadBinary(driver, linker.getCubin(), optimizationLevel, handle))
    return status;
  writeCache(folder, digest, linker.getCubin(), linker.getSize());
  return FAD_CUDA_SUCCESS;
}

FadCudaStatus fad::cuda::loadModule(const void *image, size_t size,
                                    int optimizationLevel,
                                    FadCudaModule &module) {
  if (!image)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot load the module: the image is a null pointer");
  std::string reason;
  ImageKind kind = classifyImage(image, size, reason);
  if (kind == ImageKind::Invalid)
    return fail(FAD_CUDA_INVALID_ARGUMENT, "cannot load the module: " + reason);
  const Driver *driver;
  CUctx_st *context;
  if (FadCudaStatus status = getDriverInContext(driver, context))
    return status;
  CUmod_st *handle = nullptr;
  FadCudaStatus status;
  if (kind == ImageKind::Ptx) {
    std::string ptx(static_cast<const char *>(image), size);
    if (!ptx.back())
      ptx.pop_back();
    status = loadPtx(*driver, ptx, optimizationLevel, handle);
  } else {
    status = loadBinary(*driver, image, optimizationLevel, handle);
  }
  if (!status)
    module = new FadCudaModuleStorage{*driver, context, handle, {}, {}};
  return status;
}

FadCudaStatus fadCudaModuleLoad(const void *image, size_t size,
                                FadCudaModule *module) {
  if (!module)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot load the module: no place for its handle");
  return loadModule(image, size, kMaxOptimizationLevel, *module);
}

FadCudaStatus fadCudaModuleUnload(FadCudaModule module) {
  if (!module)
    return FAD_CUDA_SUCCESS;
  const Driver &driver = module->driver;
  Result result;
  {
    ScopedContext scope(driver, module->context);
    result = scope.getResult();
    if (!result)
      result = driver.cuModuleUnload(module->handle);
  }
  delete module;
  // The module went before, with its context or with the driver.
  if (result == kErrorDeinitialized || result == kErrorContextIsDestroyed)
    return FAD_CUDA_SUCCESS;
  return check(driver, "cuModuleUnload", result);
}

FadCudaStatus fadCudaModuleGetFunction(FadCudaModule module, const char *name,
                                       FadCudaFunction *function) {
  if (!module || !name || !function)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot find a kernel: no module, no name, or no place for "
                "its handle");
  std::lock_guard<std::mutex> lock(module->mutex);
  auto found = module->functions.find(name);
  if (found == module->functions.end()) {
    const Driver &driver = module->driver;
    ScopedContext scope(driver, module->context);
    CUfunc_st *handle = nullptr;
    Result result = scope.getResult();
    if (!result)
      result = driver.cuModuleGetFunction(&handle, module->handle, name);
    if (FadCudaStatus status =
            check(driver,
                  std::string("cannot find the kernel '") + name +
                      "' in the module: cuModuleGetFunction",
                  result))
      return status;
    FadCudaFunctionStorage storage{driver, module->context, handle, name};
    found = module->functions.emplace(name, storage).first;
  }
  *function = &found->second;
  return FAD_CUDA_SUCCESS;
}
