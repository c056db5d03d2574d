//===- HostSymbols.cpp - Functions called by compiled code ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSymbols.h"
#include "Library/Gemm.h"
#include "RunnerUtils.h"
#include "RuntimeLibraries.h"
#include "fad/Runtime/Memory.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cinttypes>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// Makes the symbols of the library at `path` visible to compiled code. If the
/// file does not exist, because fad was built on another machine, the system
/// searches a library of that name.
static llvm::sys::DynamicLibrary loadLibrary(llvm::StringRef path) {
  llvm::sys::DynamicLibrary library;
  for (llvm::StringRef candidate : {path, llvm::sys::path::filename(path)})
    if (!library.isValid())
      library = llvm::sys::DynamicLibrary::getPermanentLibrary(
          candidate.str().c_str());
  return library;
}

void mlir::fad::loadCompilerLibrary() { loadLibrary("libgcc_s.so.1"); }

/// Loads a library of fad's: from the folder of the program or library that
/// this code is linked into, from the folder lib next to that, or else by its
/// name. A program that is installed thus has the library that is installed
/// with it.
static llvm::sys::DynamicLibrary loadOwnLibrary(llvm::StringRef name) {
  Dl_info self;
  bool isFound = dladdr(&runtimeLibraries, &self) != 0;
  // The name of a program may lack its folder.
  for (std::string file :
       {isFound ? std::string(self.dli_fname) : std::string(),
        llvm::sys::fs::getMainExecutable(
            nullptr, const_cast<RuntimeLibraries *>(&runtimeLibraries))}) {
    if (!llvm::sys::path::is_absolute(file))
      continue;
    for (llvm::StringRef folder : {"", "../lib"}) {
      llvm::SmallString<256> path = llvm::sys::path::parent_path(file);
      llvm::sys::path::append(path, folder, name);
      if (llvm::sys::fs::exists(path))
        return loadLibrary(path);
    }
  }
  return loadLibrary(name);
}

llvm::sys::DynamicLibrary mlir::fad::loadCUDARuntime() {
  return loadOwnLibrary(runtimeLibraries.cudaRuntime);
}

bool mlir::fad::loadOpenMP() {
  return loadLibrary(runtimeLibraries.openMP).isValid();
}

void *mlir::fad::findInOpenMP(const char *name) {
  llvm::sys::DynamicLibrary library = loadLibrary(runtimeLibraries.openMP);
  return library.isValid() ? library.getAddressOfSymbol(name) : nullptr;
}

/// Whether this thread runs a part of a parallel loop.
static bool isInParallelLoop() {
  void *symbol = findInOpenMP("omp_in_parallel");
  return symbol && reinterpret_cast<int (*)()>(symbol)();
}

int mlir::fad::getMaxThreads() {
  static void *symbol = findInOpenMP("omp_get_max_threads");
  return symbol ? reinterpret_cast<int (*)()>(symbol)() : 1;
}

int mlir::fad::setMaxThreads(int count) {
  static void *symbol = findInOpenMP("omp_set_num_threads");
  int before = getMaxThreads();
  if (symbol)
    reinterpret_cast<void (*)(int)>(symbol)(count);
  return before;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

namespace {
/// A call of compiled code, while it runs.
struct ActiveCall {
  std::jmp_buf returnPoint;
  char message[4096] = "";
  /// The live allocations of the thread. The compiled code loses them if the
  /// call ends early.
  llvm::DenseSet<void *> buffers;
};
} // namespace

static thread_local ActiveCall *activeCall = nullptr;

/// `cf.assert` prints its message and aborts.
static int hostPuts(const char *message) {
  if (!activeCall) {
    llvm::errs() << "error: " << message << "\n";
    return 0;
  }
  std::strncpy(activeCall->message, message, sizeof(activeCall->message) - 1);
  return 0;
}

[[noreturn]] static void hostAbort() {
  // Frames of compiled code need no unwinding, but those of OpenMP do.
  if (activeCall && !isInParallelLoop())
    std::longjmp(activeCall->returnPoint, 1);
  if (activeCall)
    llvm::errs() << "error: " << activeCall->message << "\n";
  std::_Exit(EXIT_FAILURE);
}

llvm::Error mlir::fad::callCompiled(void (*invoke)(void **), void **arguments,
                                    llvm::ArrayRef<void *> owned) {
  ActiveCall call;
  call.buffers.insert_range(owned);
  if (setjmp(call.returnPoint)) {
    activeCall = nullptr;
    llvm::for_each(call.buffers, freeBuffer);
    return llvm::createStringError(llvm::StringRef(call.message));
  }
  activeCall = &call;
  invoke(arguments);
  activeCall = nullptr;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void *hostMalloc(uint64_t bytes) {
  // Compiled code does not test for null.
  if (void *buffer = allocateBuffer(bytes)) {
    if (activeCall)
      activeCall->buffers.insert(buffer);
    return buffer;
  }
  char message[80];
  std::snprintf(message, sizeof(message),
                "there is no memory for a tensor of %" PRIu64 " bytes", bytes);
  hostPuts(message);
  hostAbort();
}

static void *hostCalloc(uint64_t count, uint64_t size) {
  bool overflows = size && count > UINT64_MAX / size;
  uint64_t bytes = overflows ? UINT64_MAX : count * size;
  return std::memset(hostMalloc(bytes), 0, bytes);
}

static void *hostAlignedAlloc(uint64_t, uint64_t bytes) {
  // Every buffer is aligned more than any vector asks for.
  return hostMalloc(bytes);
}

static void hostFree(void *buffer) {
  if (activeCall)
    activeCall->buffers.erase(buffer);
  freeBuffer(buffer);
}

llvm::orc::SymbolMap
mlir::fad::getHostSymbols(llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                             llvm::JITSymbolFlags::Exported |
                                 llvm::JITSymbolFlags::Callable};
  };
  add("malloc", hostMalloc);
  add("calloc", hostCalloc);
  add("aligned_alloc", hostAlignedAlloc);
  add("free", hostFree);
  add("puts", hostPuts);
  add("abort", hostAbort);
  add("memrefCopy", copyMemRef);
  forEachContraction(add);
  add("__truncsfbf2", static_cast<float (*)(float)>(truncateToBF16));
  add("__truncdfbf2", static_cast<float (*)(double)>(truncateToBF16));
  return symbols;
}
