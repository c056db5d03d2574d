//===- Launch.cpp - Starts kernels ----------------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include <limits>

using namespace fad::cuda;

/// Up to this many bytes need no permission.
static constexpr long long kSharedBytes = 48 << 10;

static std::string toString(const long long (&numbers)[3]) {
  return std::to_string(numbers[0]) + " x " + std::to_string(numbers[1]) +
         " x " + std::to_string(numbers[2]);
}

static std::string describe(FadCudaFunction function,
                            const LaunchShape &shape) {
  return "cannot launch the kernel '" + function->name + "' with " +
         toString(shape.grid) + " blocks of " + toString(shape.block) +
         " threads and " + std::to_string(shape.sharedBytes) +
         " bytes of shared memory";
}

/// Whether the driver's functions can be given the numbers at all: they take
/// unsigned ones of 32 bits.
static bool fits(const LaunchShape &shape) {
  auto inRange = [](long long number) {
    return number >= 0 && number <= std::numeric_limits<unsigned>::max();
  };
  for (int i = 0; i < 3; ++i)
    if (!inRange(shape.grid[i]) || !inRange(shape.block[i]) ||
        (shape.cluster && !inRange(shape.cluster[i])))
      return false;
  return shape.sharedBytes >= 0 &&
         shape.sharedBytes <= std::numeric_limits<int>::max();
}

static Result launchClusters(const Driver &driver, CUfunc_st *function,
                             const LaunchShape &shape, CUstream_st *stream,
                             void **parameters, void **extra) {
  ClusterAttribute attribute;
  attribute.x = unsigned(shape.cluster[0]);
  attribute.y = unsigned(shape.cluster[1]);
  attribute.z = unsigned(shape.cluster[2]);
  LaunchConfig config = {unsigned(shape.grid[0]),
                         unsigned(shape.grid[1]),
                         unsigned(shape.grid[2]),
                         unsigned(shape.block[0]),
                         unsigned(shape.block[1]),
                         unsigned(shape.block[2]),
                         unsigned(shape.sharedBytes),
                         stream,
                         &attribute,
                         1};
  return driver.cuLaunchKernelEx(&config, function, parameters, extra);
}

FadCudaStatus fad::cuda::launch(FadCudaFunction function,
                                const LaunchShape &shape, FadCudaStream stream,
                                void **parameters, void **extra) {
  if (!function)
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                "cannot launch a kernel: there is none");
  if (!fits(shape))
    return fail(FAD_CUDA_INVALID_ARGUMENT,
                describe(function, shape) + ": more than CUDA has");
  if (!shape.grid[0] || !shape.grid[1] || !shape.grid[2])
    return FAD_CUDA_SUCCESS;
  const Driver &driver = function->driver;
  if (shape.cluster && !driver.cuLaunchKernelEx)
    return fail(FAD_CUDA_DRIVER_ERROR,
                describe(function, shape) +
                    ": the driver has no clusters (cuLaunchKernelEx)");
  ScopedContext scope(driver, function->context);
  Result result = scope.getResult();
  if (!result && shape.sharedBytes > kSharedBytes)
    result = driver.cuFuncSetAttribute(function->handle,
                                       kFunctionMaxDynamicSharedBytes,
                                       int(shape.sharedBytes));
  if (!result && shape.cluster)
    result = launchClusters(driver, function->handle, shape, toStream(stream),
                            parameters, extra);
  else if (!result)
    result = driver.cuLaunchKernel(
        function->handle, unsigned(shape.grid[0]), unsigned(shape.grid[1]),
        unsigned(shape.grid[2]), unsigned(shape.block[0]),
        unsigned(shape.block[1]), unsigned(shape.block[2]),
        unsigned(shape.sharedBytes), toStream(stream), parameters, extra);
  // The text is built on errors only, because launches are short.
  return result ? check(driver, describe(function, shape), result)
                : FAD_CUDA_SUCCESS;
}

FadCudaStatus fadCudaLaunch(FadCudaFunction function, unsigned gridX,
                            unsigned gridY, unsigned gridZ, unsigned blockX,
                            unsigned blockY, unsigned blockZ,
                            unsigned sharedBytes, FadCudaStream stream,
                            void **parameters) {
  LaunchShape shape = {{gridX, gridY, gridZ},
                       {blockX, blockY, blockZ},
                       sharedBytes,
                       /*cluster=*/nullptr};
  return launch(function, shape, stream, parameters, /*extra=*/nullptr);
}
