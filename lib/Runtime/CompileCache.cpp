//===- CompileCache.cpp - Machine code on disk ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/CompileCache.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mutex>
#include <unistd.h>

using namespace mlir::fad;
namespace fs = llvm::sys::fs;

/// `pruneCache` looks at files that begin so, and at no other.
static constexpr llvm::StringLiteral kPrefix = "llvmcache-";
static constexpr size_t kDigestSize = 32;

//===----------------------------------------------------------------------===//
// The user's cache
//===----------------------------------------------------------------------===//

/// Whether the command line sets an option of LLVM.
static bool hasOptionsOfLLVM() {
  return llvm::any_of(llvm::cl::getRegisteredOptions(), [](const auto &entry) {
    const llvm::cl::Option *option = entry.second;
    return option->getNumOccurrences() &&
           llvm::is_contained(option->Categories,
                              &llvm::cl::getGeneralCategory());
  });
}

/// The bytes that FAD_CACHE_SIZE allows.
static uint64_t
getMaxBytes(llvm::function_ref<void(const llvm::Twine &)> warn) {
  constexpr uint64_t usual = uint64_t(512) << 20;
  const char *size = std::getenv("FAD_CACHE_SIZE");
  if (!size || !*size)
    return usual;
  if (std::optional<uint64_t> parsed = parseBytes(size))
    return *parsed;
  static std::once_flag once;
  std::call_once(once, [&] {
    warn(llvm::Twine("FAD_CACHE_SIZE is '") + size + "', " +
         explainBytes(size) +
         "; 0 is for no cache; the cache of compiled code takes up to 512MiB");
  });
  return usual;
}

std::optional<CompileCache>
CompileCache::get(llvm::function_ref<void(const llvm::Twine &)> warn) {
  uint64_t maxBytes = getMaxBytes(warn);
  llvm::SmallString<128> folder;
  if (const char *own = std::getenv("FAD_CACHE_DIR"); own && *own)
    folder = own;
  else if (llvm::sys::path::cache_directory(folder))
    llvm::sys::path::append(folder, "fad");
  else
    return std::nullopt;
  if (maxBytes == 0 || hasOptionsOfLLVM())
    return std::nullopt;
  llvm::sys::path::append(folder, "code");
  return CompileCache(folder.str().str(), maxBytes);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// An entry begins with the digest of its content: a disk that is full, or a
/// machine that stops, may leave a part of a file.
static std::string getDigest(llvm::StringRef content) {
  return llvm::toStringRef(
             llvm::SHA256::hash(llvm::arrayRefFromStringRef(content)))
      .str();
}

/// Whether `status` is that of a regular file of this user.
static bool isOwn(const fs::basic_file_status &status) {
  return status.type() == fs::file_type::regular_file &&
         status.getUser() == geteuid();
}

std::unique_ptr<llvm::MemoryBuffer>
CompileCache::load(llvm::StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, kPrefix + key);
  // To open a FIFO waits for a writer unless this is refused.
  fs::file_t file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  std::unique_ptr<llvm::MemoryBuffer> content;
  fs::file_status status;
  if (!fs::status(file, status) && isOwn(status)) {
    // Read, not mapped: another process may remove the file.
    auto read = llvm::MemoryBuffer::getOpenFile(
        file, path, /*FileSize=*/-1, /*RequiresNullTerminator=*/false,
        /*IsVolatile=*/true);
    llvm::StringRef bytes = read ? (*read)->getBuffer() : "";
    if (bytes.size() >= kDigestSize &&
        bytes.take_front(kDigestSize) ==
            getDigest(bytes.drop_front(kDigestSize)))
      content = llvm::MemoryBuffer::getMemBufferCopy(
          bytes.drop_front(kDigestSize), key);
    // The time of the last use decides which entries are removed.
    (void)fs::setLastAccessAndModificationTime(
        file, std::chrono::system_clock::now());
  }
  (void)fs::closeFile(file);
  return content;
}

void CompileCache::store(llvm::StringRef key, llvm::StringRef content) const {
  if (content.size() + kDigestSize > maxBytes ||
      fs::create_directories(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return;
  llvm::SmallString<128> path(folder), pattern(folder);
  llvm::sys::path::append(path, kPrefix + key);
  fs::file_status status;
  if (!fs::status(path, status) && !isOwn(status))
    return;
  // No llvm::localCache and no fs::TempFile, which take over the signal
  // handlers of the process.
  llvm::sys::path::append(pattern, kPrefix + "%%%%%%%%.tmp");
  int file;
  llvm::SmallString<128> temporary;
  if (fs::createUniqueFile(pattern, file, temporary, fs::OF_None,
                           fs::owner_read | fs::owner_write))
    return;
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  os << getDigest(content) << content;
  os.close();
  bool failed = os.has_error();
  os.clear_error();
  if (failed || fs::rename(temporary, path))
    (void)fs::remove(temporary);
  llvm::CachePruningPolicy policy;
  policy.Interval = policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizePercentageOfAvailableSpace = 0;
  policy.MaxSizeBytes = maxBytes;
  llvm::pruneCache(folder, policy);
}

//===----------------------------------------------------------------------===//
// The build
//===----------------------------------------------------------------------===//

/// Which file `address` is in, and when it was written; empty if that is
/// unknown.
static std::string describeFile(const void *address) {
  Dl_info info;
  link_map *map = nullptr;
  if (!dladdr1(address, &info, reinterpret_cast<void **>(&map),
               RTLD_DL_LINKMAP) ||
      !map)
    return {};
  // The program itself has no name here.
  fs::file_status status;
  if (fs::status(*map->l_name ? map->l_name : "/proc/self/exe", status))
    return {};
  auto time = status.getLastModificationTime().time_since_epoch().count();
  return std::to_string(status.getUniqueID().getDevice()) + " " +
         std::to_string(status.getUniqueID().getFile()) + " " +
         std::to_string(status.getSize()) + " " + std::to_string(time) + "\n";
}

static std::string describeFiles() {
  std::string text;
  for (const void *address :
       {reinterpret_cast<const void *>(&describeBuild),
        reinterpret_cast<const void *>(&llvm::sys::getHostCPUName),
        reinterpret_cast<const void *>(&mlir::translateModuleToLLVMIR)}) {
    std::string file = describeFile(address);
    if (file.empty())
      return {};
    text += file;
  }
  return text;
}

/// The files as they are when they are loaded: one that is installed in their
/// place later, while the process runs, is not what compiles here. Threads may
/// compile while the process ends, so this is not destroyed.
static const std::string &build = *new std::string(describeFiles());

const std::string &mlir::fad::describeBuild() { return build; }
