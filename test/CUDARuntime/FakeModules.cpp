//===- FakeModules.cpp - Modules and launches of the driver in tests ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCompiler.h"
#include "FakeDriver.h"
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <mutex>

using namespace fake;

namespace {
/// The logs among the options of a call that compiles.
struct Logs {
  char *info = nullptr, *error = nullptr;
  uintptr_t infoSize = 0, errorSize = 0;

  Logs() = default;
  Logs(unsigned count, const int *keys, void *const *values) {
    for (unsigned i = 0; i < count; ++i) {
      if (keys[i] == 3)
        info = static_cast<char *>(values[i]);
      if (keys[i] == 4)
        infoSize = reinterpret_cast<uintptr_t>(values[i]);
      if (keys[i] == 5)
        error = static_cast<char *>(values[i]);
      if (keys[i] == 6)
        errorSize = reinterpret_cast<uintptr_t>(values[i]);
    }
    if (const char *text = std::getenv("FAD_FAKE_CUDA_INFO"))
      write(info, infoSize, text);
  }
  void writeError(const std::string &text) { write(error, errorSize, text); }

private:
  static void write(char *log, size_t size, const std::string &text) {
    if (log && size)
      log[text.copy(log, size - 1)] = 0;
  }
};
} // namespace

struct CUfunc_st {
  int device;
  std::string name;
  std::vector<size_t> parameterBytes;
};

struct CUmod_st {
  int device;
  std::string code;
  std::list<CUfunc_st> functions;
};

struct CUstream_st {
  int device;
  int number;
};

struct CUevent_st {
  bool takesTime;
  /// How many kernels had been launched.
  int time;
};

/// Of all streams: launches are what takes time here.
static std::atomic<int> launchCount{0};

//===----------------------------------------------------------------------===//
// Compiling and loading
//===----------------------------------------------------------------------===//

FAKE_CUDA cuModuleLoadDataEx(CUmod_st **module, const void *image,
                             unsigned count, int *keys, void **values) {
  std::string details;
  for (unsigned i = 0; i < count; ++i)
    if (keys[i] == 7)
      details =
          "level=" + std::to_string(reinterpret_cast<uintptr_t>(values[i]));
  if (Result result = enterInContext("cuModuleLoadDataEx", details))
    return result;
  auto *bytes = static_cast<const char *>(image);
  Logs logs(count, keys, values);
  std::string cubin, error;
  if (!isBinary(bytes) && !compile(bytes, cubin, error)) {
    logs.writeError(error);
    return kInvalidPtx;
  }
  const char *binary = isBinary(bytes) ? bytes : cubin.data();
  *module = new CUmod_st{getCurrentDevice(), readBinary(binary), {}};
  return 0;
}

FAKE_CUDA cuModuleUnload(CUmod_st *module) {
  if (Result result = enterInContext("cuModuleUnload"))
    return result;
  delete module;
  return 0;
}

FAKE_CUDA cuModuleGetFunction(CUfunc_st **function, CUmod_st *module,
                              const char *name) {
  if (Result result = enterInContext("cuModuleGetFunction", name))
    return result;
  CUfunc_st found{module->device, name, {}};
  if (!findKernel(module->code, name, found.parameterBytes))
    return kNotFound;
  module->functions.push_back(found);
  *function = &module->functions.back();
  return 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

FAKE_CUDA cuFuncSetAttribute(CUfunc_st *function, int attribute, int value) {
  return enterInContext("cuFuncSetAttribute", function->name + " " +
                                                  std::to_string(attribute) +
                                                  "=" + std::to_string(value));
}

static std::string toString(const unsigned (&numbers)[3]) {
  return std::to_string(numbers[0]) + "," + std::to_string(numbers[1]) + "," +
         std::to_string(numbers[2]);
}

static std::string toHex(const void *data, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    unsigned char byte = static_cast<const unsigned char *>(data)[i];
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// Calls the function of this name, if there is one.
static void execute(const std::string &name, void **parameters,
                    const unsigned *grid, const unsigned *block) {
  const char *path = std::getenv("FAD_FAKE_CUDA_KERNELS");
  if (!path)
    return;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    record(dlerror());
    return;
  }
  using Kernel = void (*)(void **, const unsigned *, const unsigned *);
  if (auto kernel = reinterpret_cast<Kernel>(dlsym(library, name.c_str())))
    kernel(parameters, grid, block);
}

static Result launch(const std::string &call, CUfunc_st *function,
                     const unsigned (&grid)[3], const unsigned (&block)[3],
                     unsigned sharedBytes, CUstream_st *stream,
                     void **parameters) {
  std::string details =
      function->name + " grid=" + toString(grid) + " block=" + toString(block) +
      " shared=" + std::to_string(sharedBytes) +
      " stream=" + std::to_string(stream ? stream->number : 0) + " parameters=";
  for (size_t i = 0; i < function->parameterBytes.size(); ++i)
    details +=
        (i ? "," : "") + toHex(parameters[i], function->parameterBytes[i]);
  if (Result result = enterInContext(call, details))
    return result;
  if (function->device != (stream ? stream->device : getCurrentDevice()))
    return kInvalidHandle;
  if (block[0] * block[1] * block[2] > 1024 || !block[0] || grid[1] > 65535)
    return kInvalidValue;
  ++launchCount;
  execute(function->name, parameters, grid, block);
  return 0;
}

FAKE_CUDA cuLaunchKernel(CUfunc_st *function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned sharedBytes,
                         CUstream_st *stream, void **parameters, void **) {
  return launch("cuLaunchKernel", function, {gridX, gridY, gridZ},
                {blockX, blockY, blockZ}, sharedBytes, stream, parameters);
}

namespace {
struct LaunchAttribute {
  int id;
  char padding[4];
  unsigned cluster[3];
};
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  CUstream_st *stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
} // namespace

FAKE_CUDA cuLaunchKernelEx(const LaunchConfig *config, CUfunc_st *function,
                           void **parameters, void **) {
  if (config->attributeCount != 1 || config->attributes->id != 4)
    return kInvalidValue;
  return launch("cuLaunchKernelEx cluster=" +
                    toString(config->attributes->cluster),
                function, config->grid, config->block, config->sharedBytes,
                config->stream, parameters);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

static std::string toString(CUstream_st *stream) {
  return "stream=" + std::to_string(stream ? stream->number : 0);
}

FAKE_CUDA cuStreamCreate(CUstream_st **stream, unsigned flags) {
  static std::atomic<int> count{0};
  if (Result result =
          enterInContext("cuStreamCreate", "flags=" + std::to_string(flags)))
    return result;
  *stream = new CUstream_st{getCurrentDevice(), ++count};
  return 0;
}

FAKE_CUDA cuStreamDestroy_v2(CUstream_st *stream) {
  if (Result result = enterInContext("cuStreamDestroy", toString(stream)))
    return result;
  delete stream;
  return 0;
}

FAKE_CUDA cuStreamSynchronize(CUstream_st *stream) {
  return enterInContext("cuStreamSynchronize", toString(stream));
}

FAKE_CUDA cuStreamIsCapturing(CUstream_st *stream, int *state) {
  if (Result result = enterInContext("cuStreamIsCapturing", toString(stream)))
    return result;
  int number = stream ? stream->number : 0;
  *state = getNumber("FAD_FAKE_CUDA_CAPTURED", -1) == number;
  return 0;
}

FAKE_CUDA cuThreadExchangeStreamCaptureMode(int *mode) {
  static thread_local int current = 0;
  if (Result result = enter("cuThreadExchangeStreamCaptureMode",
                            "mode=" + std::to_string(*mode)))
    return result;
  std::swap(current, *mode);
  return 0;
}

FAKE_CUDA cuStreamWaitEvent(CUstream_st *stream, CUevent_st *, unsigned) {
  return enterInContext("cuStreamWaitEvent", toString(stream));
}

FAKE_CUDA cuEventCreate(CUevent_st **event, unsigned flags) {
  if (Result result =
          enterInContext("cuEventCreate", "flags=" + std::to_string(flags)))
    return result;
  *event = new CUevent_st{!(flags & 2), 0};
  return 0;
}

FAKE_CUDA cuEventDestroy_v2(CUevent_st *event) {
  delete event;
  return enterInContext("cuEventDestroy");
}

FAKE_CUDA cuEventRecord(CUevent_st *event, CUstream_st *stream) {
  event->time = launchCount;
  return enterInContext("cuEventRecord", toString(stream));
}

FAKE_CUDA cuEventSynchronize(CUevent_st *) {
  return enterInContext("cuEventSynchronize");
}

FAKE_CUDA cuEventElapsedTime(float *milliseconds, CUevent_st *start,
                             CUevent_st *stop) {
  if (Result result = enterInContext("cuEventElapsedTime"))
    return result;
  if (!milliseconds)
    return kInvalidValue;
  *milliseconds = stop->time - start->time;
  return start->takesTime && stop->takesTime ? 0 : kInvalidHandle;
}
