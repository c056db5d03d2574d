//===- Cache.cpp - Compiled kernels on disk -------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fad::cuda;

// An entry is a header, and the cubin after it.
namespace {
struct Header {
  char magic[8];
  uint64_t size;
  Digest key;
  /// Of the cubin.
  Digest checksum;
};

/// A file descriptor that is closed.
class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  int get() const { return descriptor; }
  /// Whether it is open, of the type `type` (S_IFREG or S_IFDIR) and the
  /// user's, and nobody else can write to it: what is in the cache is run. Its
  /// size goes to `size`.
  bool isPrivate(mode_t type, uint64_t &size) const;
  bool read(void *data, size_t size);
  bool write(const void *data, size_t size);

private:
  int descriptor;
};
} // namespace

// What is written changes with the number here.
static constexpr char kMagic[8] = {'f', 'a', 'd', 'c', 'u', 'b', 'i', '1'};

/// No cubin is larger than this, in bytes. An entry that says it is would take
/// all memory, or hours to read where the file has holes.
static constexpr uint64_t kMaxSize = uint64_t(1) << 28;

bool File::isPrivate(mode_t type, uint64_t &size) const {
  struct stat status;
  if (::fstat(descriptor, &status) || (status.st_mode & S_IFMT) != type ||
      status.st_uid != ::geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))
    return false;
  size = status.st_size;
  return true;
}

/// Calls `function`, which is read or write, until it has moved all of `size`
/// bytes.
template <typename Byte, typename Fn>
static bool moveAll(int descriptor, Byte *bytes, size_t size, Fn function) {
  while (size) {
    ssize_t done = function(descriptor, bytes, size);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    bytes += done;
    size -= done;
  }
  return true;
}

bool File::read(void *data, size_t size) {
  return moveAll(descriptor, static_cast<char *>(data), size, ::read);
}

bool File::write(const void *data, size_t size) {
  return moveAll(descriptor, static_cast<const char *>(data), size, ::write);
}

Digest CacheKey::getDigest() const {
  const int64_t numbers[] = {driverVersion, major, minor, optimizationLevel,
                             int64_t(ptx.size())};
  Sha256 sha;
  sha.update(kMagic, sizeof(kMagic));
  sha.update(numbers, sizeof(numbers));
  sha.update(ptx.data(), ptx.size());
  return sha.finish();
}

std::string fad::cuda::getCacheFolder() {
  if (const char *folder = std::getenv("FAD_CACHE_DIR"))
    return folder;
  // Its specification says that a relative path there is to be ignored.
  const char *xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && *xdg == '/')
    return std::string(xdg) + "/fad";
  const char *home = std::getenv("HOME");
  if (home && *home)
    return std::string(home) + "/.cache/fad";
  return "";
}

static std::string getName(const Digest &key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (uint8_t byte : key) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name + ".cubin";
}

static File openFolder(const std::string &folder) {
  return File(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool fad::cuda::readCache(const std::string &folder, const Digest &key,
                          std::string &cubin) {
  if (folder.empty())
    return false;
  uint64_t size;
  File parent = openFolder(folder);
  if (!parent.isPrivate(S_IFDIR, size))
    return false;
  // Without waiting, should a pipe be there under that name.
  File file(::openat(parent.get(), getName(key).c_str(),
                     O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  Header header;
  if (!file.isPrivate(S_IFREG, size) || !file.read(&header, sizeof(header)))
    return false;
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) || header.key != key ||
      header.size != size - sizeof(header) || header.size > kMaxSize)
    return false;
  std::string content(header.size, '\0');
  if (!file.read(content.data(), content.size()) ||
      Sha256::hash(content.data(), content.size()) != header.checksum)
    return false;
  cubin = std::move(content);
  return true;
}

/// Makes a folder, and those that it is in. They are the user's alone: what is
/// in the cache is run.
static void makeFolders(const std::string &folder) {
  for (size_t end = 1; end <= folder.size(); ++end)
    if (end == folder.size() || folder[end] == '/')
      ::mkdir(folder.substr(0, end).c_str(), 0700);
}

void fad::cuda::writeCache(const std::string &folder, const Digest &key,
                           const void *cubin, size_t size) {
  if (folder.empty() || size > kMaxSize)
    return;
  makeFolders(folder);
  uint64_t folderSize;
  if (!openFolder(folder).isPrivate(S_IFDIR, folderSize))
    return;
  // Of another name than any other writer's.
  std::string path = folder + "/" + getName(key), temporary = path + ".XXXXXX";
  int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0)
    return;
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.size = size;
  header.key = key;
  header.checksum = Sha256::hash(cubin, size);
  bool written;
  {
    File file(descriptor);
    written = file.write(&header, sizeof(header)) && file.write(cubin, size);
  }
  if (!written || ::rename(temporary.c_str(), path.c_str()))
    ::unlink(temporary.c_str());
}
