//===- CUDATarget.cpp - Compiled code on an NVIDIA GPU --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/CUDATarget.h"
#include "HostSymbols.h"
#include "fad-c/CUDARuntime.h"
#include "fad/Runtime/Memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace mlir::fad;

namespace {
/// The functions of the CUDA runtime that are called here.
struct Runtime {
  decltype(&fadCudaInit) init;
  decltype(&fadCudaGetErrorMessage) getErrorMessage;
  decltype(&fadCudaGetComputeCapability) getComputeCapability;
  decltype(&fadCudaMallocManaged) mallocManaged;
  decltype(&fadCudaFree) free;
  decltype(&fadCudaTakeError) takeError;
};
} // namespace

static Runtime runtime;

template <typename Fn>
static bool find(llvm::sys::DynamicLibrary &library, const char *name,
                 Fn &function) {
  function = reinterpret_cast<Fn>(library.getAddressOfSymbol(name));
  return function;
}

static llvm::Error getError() {
  return llvm::createStringError(llvm::StringRef(runtime.getErrorMessage()));
}

static void *allocateManaged(size_t bytes) {
  void *pointer = nullptr;
  // Aligned to 256 bytes, as all that the driver allocates.
  return runtime.mallocManaged(bytes, &pointer) ? nullptr : pointer;
}

static void freeManaged(void *pointer) { (void)runtime.free(pointer); }

llvm::Expected<std::string> mlir::fad::chooseCUDAChip(int major, int minor) {
  // PTX for a chip runs on all later ones, which this LLVM may not know.
  constexpr int kChips[] = {70, 75, 80, 86, 89, 90, 100, 103, 120};
  int capability = 10 * major + minor;
  const int *after = llvm::upper_bound(kChips, capability);
  if (after == std::begin(kChips))
    return llvm::createStringError("the device has compute capability " +
                                   llvm::Twine(major) + "." +
                                   llvm::Twine(minor) + "; kernels take 7.0");
  return ("sm_" + llvm::Twine(*std::prev(after))).str();
}

llvm::Expected<std::string> mlir::fad::useCUDA() {
  llvm::sys::DynamicLibrary library = loadCUDARuntime();
  if (!library.isValid() || !find(library, "fadCudaInit", runtime.init) ||
      !find(library, "fadCudaGetErrorMessage", runtime.getErrorMessage) ||
      !find(library, "fadCudaGetComputeCapability",
            runtime.getComputeCapability) ||
      !find(library, "fadCudaMallocManaged", runtime.mallocManaged) ||
      !find(library, "fadCudaFree", runtime.free) ||
      !find(library, "fadCudaTakeError", runtime.takeError))
    return llvm::createStringError(
        "libfad_cuda_runtime.so is missing; it is installed beside fad's other "
        "libraries");
  int major = 0, minor = 0;
  if (runtime.init() || runtime.getComputeCapability(0, &major, &minor))
    return getError();
  llvm::Expected<std::string> chip = chooseCUDAChip(major, minor);
  if (chip)
    setBlockSource({allocateManaged, freeManaged});
  return chip;
}

llvm::Error mlir::fad::takeCUDAError() {
  if (!runtime.takeError || !runtime.takeError())
    return llvm::Error::success();
  // The runtime has printed the error.
  return llvm::createStringError("something failed on the GPU, as said above; "
                                 "there are no results");
}
