//===- Module.h - Modules and their kernels ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CUDARUNTIME_MODULE_H
#define FAD_LIB_CUDARUNTIME_MODULE_H

#include "Driver.h"
#include <map>
#include <mutex>

struct FadCudaFunctionStorage {
  const fad::cuda::Driver &driver;
  CUctx_st *context;
  CUfunc_st *handle;
  std::string name;
};

struct FadCudaModuleStorage {
  const fad::cuda::Driver &driver;
  CUctx_st *context;
  CUmod_st *handle;
  /// Guards the functions that were looked up so far.
  std::mutex mutex;
  std::map<std::string, FadCudaFunctionStorage> functions;
};

namespace fad::cuda {
/// The highest level, and the driver's default.
constexpr int kMaxOptimizationLevel = 4;

/// fadCudaModuleLoad, with a level of the driver's compiler.
FadCudaStatus loadModule(const void *image, size_t size, int optimizationLevel,
                         FadCudaModule &module);

/// The shape of a launch. Dimensions may be any numbers.
struct LaunchShape {
  long long grid[3], block[3];
  long long sharedBytes;
  /// Null without clusters.
  const long long *cluster = nullptr;
};

FadCudaStatus launch(FadCudaFunction function, const LaunchShape &shape,
                     FadCudaStream stream, void **parameters, void **extra);
} // namespace fad::cuda

#endif // FAD_LIB_CUDARUNTIME_MODULE_H
