//===- header.cpp - The table of functions against CUDA's header ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstddef>
#include <string_view>
#include <type_traits>

using namespace fad::cuda;

// Before the header makes symbols of the names.
#define FAD_CUDA_FUNCTION(name, symbol, ...)                                   \
  using InTable_##name = decltype(Driver::name);
#define FAD_CUDA_OPTIONAL_FUNCTION FAD_CUDA_FUNCTION
#include "Functions.def"

#include <cuda.h>

// Enumerations of the header are int in the table; all else has to be the same.
template <typename T>
using Plain = std::conditional_t<
    std::is_enum_v<T>, int,
    std::conditional_t<std::is_pointer_v<T> &&
                           std::is_enum_v<std::remove_pointer_t<T>>,
                       int *, T>>;

// A structure of the header and the table's own.
template <typename T> struct Same {
  using type = Plain<T>;
};
template <> struct Same<const CUlaunchConfig *> {
  using type = const LaunchConfig *;
};

template <typename T> struct Signature;
template <typename R, typename... Args> struct Signature<R (*)(Args...)> {
  using type = Plain<R> (*)(typename Same<Args>::type...);
};

#define NAME(symbol) #symbol
// The header makes a symbol of the name by a macro. It has a newer one for
// events, which older drivers lack.
#define FAD_CUDA_FUNCTION(name, symbol, ...)                                   \
  static_assert(std::string_view(NAME(name)) == #symbol ||                     \
                std::string_view(#symbol) == "cuEventElapsedTime");            \
  static_assert(                                                               \
      std::is_same_v<Signature<decltype(&name)>::type, InTable_##name>);
#define FAD_CUDA_OPTIONAL_FUNCTION FAD_CUDA_FUNCTION
#include "Functions.def"

static_assert(kErrorDeinitialized == CUDA_ERROR_DEINITIALIZED);
static_assert(kErrorNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kErrorContextIsDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED);
static_assert(kAttributeMultiprocessorCount ==
              CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kAttributeComputeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kAttributeComputeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kFunctionMaxDynamicSharedBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kJitInfoLogBuffer == CU_JIT_INFO_LOG_BUFFER);
static_assert(kJitInfoLogBufferSize == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
static_assert(kJitErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(kJitErrorLogBufferSize == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(kJitOptimizationLevel == CU_JIT_OPTIMIZATION_LEVEL);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kEventDefault == CU_EVENT_DEFAULT);
static_assert(kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kMemAttachGlobal == CU_MEM_ATTACH_GLOBAL);

static_assert(ClusterAttribute::kId == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(sizeof(ClusterAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ClusterAttribute, x) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, attributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));
