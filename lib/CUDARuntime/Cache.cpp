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

  bool isOpen() const { return descriptor >= 0; }
  /// The size, where it is a regular file.
  bool getSize(uint64_t &size) const;
  bool read(void *data, size_t size);
  bool write(const void *data, size_t size);

private:
  int descriptor;
};
} // namespace

// What is written changes with the number here.
static constexpr char kMagic[8] = {'f', 'a', 'd', 'c', 'u', 'b', 'i', '1'};

bool File::getSize(uint64_t &size) const {
  struct stat status;
  if (::fstat(descriptor, &status) || !S_ISREG(status.st_mode))
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

static std::string getPath(const std::string &folder, const Digest &key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string path = folder + "/";
  for (uint8_t byte : key) {
    path += kDigits[byte >> 4];
    path += kDigits[byte & 15];
  }
  return path + ".cubin";
}

bool fad::cuda::readCache(const std::string &folder, const Digest &key,
                          std::string &cubin) {
  if (folder.empty())
    return false;
  // Without waiting, should a pipe be there under that name.
  File file(
      ::open(getPath(folder, key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  uint64_t fileSize;
  Header header;
  if (!file.isOpen() || !file.getSize(fileSize) ||
      !file.read(&header, sizeof(header)))
    return false;
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) || header.key != key ||
      header.size != fileSize - sizeof(header))
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
  if (folder.empty())
    return;
  makeFolders(folder);
  // Of another name than any other writer's.
  std::string path = getPath(folder, key), temporary = path + ".XXXXXX";
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
