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
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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

/// The first bytes of an entry; the digest of the content follows.
static constexpr llvm::StringLiteral kEntryStart = "fad code 2\n";
static constexpr size_t kDigestSize = 32;
static constexpr llvm::StringLiteral kTemporaryEnd = ".tmp";

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

void CacheKey::write_impl(const char *bytes, size_t size) {
  hash.update(llvm::StringRef(bytes, size));
  numBytes += size;
}

void CacheKey::endPart() {
  // The size of the last part tells where the one before it ends.
  uint8_t size[8];
  llvm::support::endian::write64le(size, tell() - begin);
  *this << llvm::toStringRef(llvm::ArrayRef(size));
  begin = tell();
}

std::string CacheKey::take() {
  flush();
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

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

/// The digest of an entry, which no other entry has, whatever its content.
static std::array<uint8_t, kDigestSize> getDigest(llvm::StringRef key,
                                                  llvm::StringRef content) {
  llvm::SHA256 hash;
  hash.update(key);
  hash.update(content);
  return hash.final();
}

/// Whether `status` is that of a regular file of this user.
static bool isOwn(const fs::basic_file_status &status) {
  return status.type() == fs::file_type::regular_file &&
         status.getUser() == geteuid();
}

std::unique_ptr<llvm::MemoryBuffer>
CompileCache::load(llvm::StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, key);
  // To open a FIFO waits for a writer unless this is refused.
  fs::file_t file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  fs::file_status status;
  if (fs::status(file, status) || !isOwn(status)) {
    (void)fs::closeFile(file);
    return nullptr;
  }
  std::unique_ptr<llvm::MemoryBuffer> content;
  // Read, not mapped: another process may remove the file.
  auto read = llvm::MemoryBuffer::getOpenFile(file, path, /*FileSize=*/-1,
                                              /*RequiresNullTerminator=*/false,
                                              /*IsVolatile=*/true);
  llvm::StringRef bytes = read ? (*read)->getBuffer() : "";
  if (bytes.consume_front(kEntryStart) && bytes.size() >= kDigestSize) {
    llvm::StringRef digest = bytes.take_front(kDigestSize);
    bytes = bytes.drop_front(kDigestSize);
    if (digest == llvm::toStringRef(getDigest(key, bytes)))
      content = llvm::MemoryBuffer::getMemBufferCopy(bytes, key);
  }
  if (content)
    // The time of the last use decides which entries are removed.
    (void)fs::setLastAccessAndModificationTime(
        file, std::chrono::system_clock::now());
  else
    (void)fs::remove(path);
  (void)fs::closeFile(file);
  return content;
}

void CompileCache::store(llvm::StringRef key, llvm::StringRef content) const {
  if (content.size() + kEntryStart.size() + kDigestSize > maxBytes ||
      fs::create_directories(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return;
  llvm::SmallString<128> path(folder), pattern(folder);
  llvm::sys::path::append(path, key);
  fs::file_status status;
  if (!fs::status(path, status) && !isOwn(status))
    return;
  llvm::sys::path::append(pattern, key + "-%%%%%%%%" + kTemporaryEnd);
  // No fs::TempFile, which takes over the signal handlers of the process.
  int file;
  llvm::SmallString<128> temporary;
  if (fs::createUniqueFile(pattern, file, temporary, fs::OF_None,
                           fs::owner_read | fs::owner_write))
    return;
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  os << kEntryStart << llvm::toStringRef(getDigest(key, content)) << content;
  os.close();
  bool failed = os.has_error();
  os.clear_error();
  if (failed || fs::rename(temporary, path))
    (void)fs::remove(temporary);
  removeOldest();
}

/// Whether `name` is that of an entry. The folder may have files of others.
static bool isKey(llvm::StringRef name) {
  return name.size() == 2 * kDigestSize && llvm::all_of(name, llvm::isHexDigit);
}

void CompileCache::removeOldest() const {
  struct Entry {
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code code;
  auto now = std::chrono::system_clock::now();
  for (fs::directory_iterator file(folder, code), end; file != end && !code;
       file.increment(code)) {
    llvm::ErrorOr<fs::basic_file_status> status = file->status();
    llvm::StringRef name = llvm::sys::path::filename(file->path());
    if (!status || !isOwn(*status) || !isKey(name.take_front(2 * kDigestSize)))
      continue;
    auto used = status->getLastModificationTime();
    // A file of a process that was killed while it wrote.
    if (name.ends_with(kTemporaryEnd)) {
      if (now - used > std::chrono::hours(1))
        (void)fs::remove(file->path());
      continue;
    }
    if (!isKey(name))
      continue;
    entries.push_back({used, status->getSize(), file->path()});
    total += status->getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry &entry : entries) {
    if (total <= maxBytes)
      break;
    (void)fs::remove(entry.path);
    total -= entry.bytes;
  }
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
