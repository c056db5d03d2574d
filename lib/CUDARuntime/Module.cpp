//===- Module.cpp - Loads modules -----------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "Image.h"
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace fad::cuda;

namespace {
/// The options of a call that compiles or loads, and the driver's log of it.
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

  /// The logs, each on its own lines after a line break.
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
    // The log may quote the PTX, whose control characters a terminal would
    // obey.
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

  // The last byte stays zero and terminates the log.
  std::vector<char> info = std::vector<char>(kLogSize + 1);
  std::vector<char> error = std::vector<char>(kLogSize + 1);
  int keys[5] = {kJitInfoLogBuffer, kJitInfoLogBufferSize, kJitErrorLogBuffer,
                 kJitErrorLogBufferSize, kJitOptimizationLevel};
  void *values[5];
};
} // namespace

/// Adds the driver's log to the message of an error.
static FadCudaStatus addLog(FadCudaStatus status, const JitOptions &options) {
  if (!status)
    return status;
  return fail(status, fadCudaGetErrorMessage() + options.getLog());
}

/// Whether `result` is about PTX and its compiler, not about the device, its
/// memory or the context.
static bool isCompilerError(Result result) {
  switch (result) {
  case kErrorNoBinaryForGpu:
  case kErrorInvalidPtx:
  case kErrorJitCompilerNotFound:
  case kErrorUnsupportedPtxVersion:
  case kErrorJitCompilationDisabled:
    return true;
  default:
    return false;
  }
}

namespace {
/// Lets the thread allocate while another one captures a graph, which loading
/// counts as. Where loading is lazy, as by default, a kernel is loaded when it
/// is asked for (CUDA_MODULE_LOADING).
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  void exchange() {
    if (driver.cuThreadExchangeStreamCaptureMode)
      (void)driver.cuThreadExchangeStreamCaptureMode(&mode);
  }

  const Driver &driver;
  int mode = kStreamCaptureModeRelaxed;
};
} // namespace

/// Loads a complete image, or PTX with a null byte at its end, into the
/// current context.
static FadCudaStatus load(const Driver &driver, ImageKind kind,
                          const void *image, int optimizationLevel,
                          CUmod_st *&handle) {
  JitOptions options(optimizationLevel);
  Result result =
      driver.cuModuleLoadDataEx(&handle, image, options.getSize(),
                                options.getKeys(), options.getValues());
  bool isPtx = kind == ImageKind::Ptx;
  bool isCompiling = isPtx && isCompilerError(result);
  std::string what = isCompiling ? "cannot compile the PTX"
                     : isPtx     ? "cannot load the PTX"
                                 : "cannot load the module";
  return addLog(
      check(driver, what + ": cuModuleLoadDataEx", result,
            isCompiling ? FAD_CUDA_COMPILE_FAILED : FAD_CUDA_DRIVER_ERROR),
      options);
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
  RelaxedCapture relaxed(*driver);
  if (kind == ImageKind::Ptx) {
    std::string ptx(static_cast<const char *>(image), size);
    if (!ptx.back())
      ptx.pop_back();
    status = load(*driver, kind, ptx.c_str(), optimizationLevel, handle);
  } else {
    status = load(*driver, kind, image, optimizationLevel, handle);
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
    RelaxedCapture relaxed(driver);
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
