//===- CacheTest.cpp - Entries of the cache are whole, or not there -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fad::cuda;
namespace fs = std::filesystem;

namespace {
class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fad cache XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  static Digest makeKey(const std::string &ptx, int version = 13000,
                        int major = 9, int minor = 0, int level = 4) {
    return CacheKey{version, major, minor, level, ptx}.getDigest();
  }
  bool has(const Digest &key, const std::string &expected) {
    std::string cubin = "untouched";
    bool found = readCache(folder, key, cubin);
    EXPECT_EQ(cubin, found ? expected : "untouched");
    return found;
  }
  void write(const Digest &key, const std::string &cubin) {
    writeCache(folder, key, cubin.data(), cubin.size());
  }
  fs::path getEntry() { return *fs::directory_iterator(folder); }
  size_t countFiles() {
    return std::distance(fs::directory_iterator(folder),
                         fs::directory_iterator());
  }

  std::string folder;
};

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

void writeFile(const fs::path &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string toHex(const Digest &digest) {
  std::string text;
  char digits[3];
  for (uint8_t byte : digest) {
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return text;
}
} // namespace

// The examples of FIPS 180-4.
TEST(Sha256Test, HashesWhatTheStandardHashes) {
  EXPECT_EQ(toHex(Sha256::hash("", 0)),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(Sha256::hash("abc", 3)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::string two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  EXPECT_EQ(toHex(Sha256::hash(two.data(), two.size())),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  std::string million(1000000, 'a');
  EXPECT_EQ(toHex(Sha256::hash(million.data(), million.size())),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, TakesPiecesOfAnySize) {
  std::string text(300, 'x');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = char(i * 7);
  for (size_t size = 0; size <= text.size(); ++size)
    for (size_t piece : {1, 63, 64, 65}) {
      Sha256 sha;
      for (size_t at = 0; at < size; at += piece)
        sha.update(text.data() + at, std::min(piece, size - at));
      ASSERT_EQ(sha.finish(), Sha256::hash(text.data(), size));
    }
}

TEST_F(CacheTest, FindsWhatWasWritten) {
  Digest key = makeKey("ptx");
  EXPECT_FALSE(has(key, ""));
  write(key, "cubin");
  EXPECT_TRUE(has(key, "cubin"));
  write(key, "another");
  EXPECT_TRUE(has(key, "another"));
  write(key, "");
  EXPECT_TRUE(has(key, ""));
  EXPECT_EQ(countFiles(), 1u);
}

// All that a cubin depends on is in the key.
TEST_F(CacheTest, KeysDiffer) {
  write(makeKey("ptx"), "cubin");
  EXPECT_TRUE(has(makeKey("ptx"), "cubin"));
  EXPECT_FALSE(has(makeKey("ptx "), ""));
  EXPECT_FALSE(has(makeKey("ptx", 12090), ""));
  EXPECT_FALSE(has(makeKey("ptx", 13000, 8), ""));
  EXPECT_FALSE(has(makeKey("ptx", 13000, 9, 1), ""));
  EXPECT_FALSE(has(makeKey("ptx", 13000, 9, 0, 2), ""));
  // An entry under the name of another is no entry.
  fs::path entry = getEntry();
  write(makeKey("other"), "cubin");
  for (const auto &file : fs::directory_iterator(folder))
    if (file.path() != entry)
      fs::copy_file(entry, file.path(), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(has(makeKey("other"), ""));
}

TEST_F(CacheTest, IgnoresWhatIsNotWhole) {
  Digest key = makeKey("ptx");
  write(key, "a cubin");
  std::string content = readFile(getEntry());
  for (size_t size = 0; size < content.size(); ++size) {
    writeFile(getEntry(), content.substr(0, size));
    ASSERT_FALSE(has(key, "")) << "the first " << size << " bytes";
  }
  writeFile(getEntry(), content + "x");
  EXPECT_FALSE(has(key, ""));
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string changed = content;
    changed[bit / 8] ^= 1 << bit % 8;
    writeFile(getEntry(), changed);
    ASSERT_FALSE(has(key, "")) << "without bit " << bit;
  }
  write(key, "a cubin");
  EXPECT_TRUE(has(key, "a cubin"));
}

TEST_F(CacheTest, IsNoErrorWhereItCannotBe) {
  Digest key = makeKey("ptx");
  std::string cubin;
  writeFile(folder + "/file", "");
  for (std::string place : {folder + "/file", folder + "/file/deeper",
                            std::string("/proc/fad"), std::string()}) {
    writeCache(place, key, "cubin", 5);
    EXPECT_FALSE(readCache(place, key, cubin));
  }
  // Folders of folders are made, for the user alone.
  std::string deep = folder + "/one/two//three/";
  writeCache(deep, key, "cubin", 5);
  EXPECT_TRUE(readCache(deep, key, cubin));
  EXPECT_EQ(fs::status(deep).permissions(), fs::perms::owner_all);
}

// An entry says how large it is; that is neither allocated nor read.
TEST_F(CacheTest, IgnoresWhatIsTooLarge) {
  Digest key = makeKey("ptx");
  write(key, "a cubin");
  std::string header = readFile(getEntry()).substr(0, 80);
  for (uint64_t size : {uint64_t(1) << 42, (uint64_t(1) << 28) + 1}) {
    header.replace(8, sizeof(size), reinterpret_cast<char *>(&size),
                   sizeof(size));
    writeFile(getEntry(), header);
    fs::resize_file(getEntry(), header.size() + size);
    EXPECT_FALSE(has(key, ""));
  }
  // What would be ignored is not written.
  std::vector<char> large((size_t(1) << 28) + 1);
  fs::remove(getEntry());
  writeCache(folder, key, large.data(), large.size());
  EXPECT_EQ(countFiles(), 0u);
}

TEST_F(CacheTest, IgnoresWhatOthersMayHaveWritten) {
  Digest key = makeKey("ptx"), other = makeKey("other");
  write(key, "cubin");
  EXPECT_EQ(fs::status(getEntry()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  for (fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    for (const fs::path &path : {fs::path(folder), getEntry()}) {
      fs::perms before = fs::status(path).permissions();
      fs::permissions(path, others, fs::perm_options::add);
      EXPECT_FALSE(has(key, ""));
      if (path == folder)
        write(other, "cubin");
      fs::permissions(path, before);
      EXPECT_TRUE(has(key, "cubin"));
    }
  }
  EXPECT_EQ(countFiles(), 1u);
  // A link leads to what may be anybody's.
  fs::path entry = getEntry(), real = folder + "/real";
  fs::rename(entry, real);
  fs::create_symlink(real, entry);
  EXPECT_FALSE(has(key, ""));
  fs::rename(real, entry);
  // Only the superuser can give files away.
  for (const fs::path &path : {fs::path(folder), entry}) {
    if (::chown(path.c_str(), 65534, 65534))
      GTEST_SKIP() << "files cannot be given away";
    EXPECT_FALSE(has(key, ""));
    ASSERT_EQ(::chown(path.c_str(), ::geteuid(), ::getegid()), 0);
    EXPECT_TRUE(has(key, "cubin"));
  }
}

/// Writes entries of one size each, and reads them until they were written.
static bool useCache(const std::string &folder, const Digest &key, char letter,
                     int count) {
  for (int i = 0; i < count; ++i) {
    std::string cubin(20000 + 1000 * (letter % 8), letter), found;
    writeCache(folder, key, cubin.data(), cubin.size());
    if (!readCache(folder, key, found) ||
        found != std::string(20000 + 1000 * (found[0] % 8), found[0]))
      return false;
  }
  return true;
}

// There always is an entry, and it always is one writer's.
TEST_F(CacheTest, ThreadsMayWriteAtATime) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (char letter = 'a'; letter < 'a' + 8; ++letter)
    threads.emplace_back([&, letter] {
      failures += !useCache(folder, makeKey("ptx"), letter, 50);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(CacheTest, ProcessesMayWriteAtATime) {
  std::vector<pid_t> processes;
  for (char letter = 'a'; letter < 'a' + 8; ++letter) {
    processes.push_back(::fork());
    if (!processes.back())
      ::_exit(!useCache(folder, makeKey("ptx"), letter, 50));
  }
  for (pid_t process : processes) {
    int status = -1;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(CacheTest, EnvironmentNamesTheFolder) {
  auto getFolder = [](const char *fad, const char *xdg, const char *home) {
    auto set = [](const char *name, const char *value) {
      value ? ::setenv(name, value, 1) : ::unsetenv(name);
    };
    set("FAD_CACHE_DIR", fad);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    return getCacheFolder();
  };
  EXPECT_EQ(getFolder("a b", "/xdg", "/home/me"), "a b");
  EXPECT_EQ(getFolder("", "/xdg", "/home/me"), "");
  EXPECT_EQ(getFolder(nullptr, "/xdg", "/home/me"), "/xdg/fad");
  EXPECT_EQ(getFolder(nullptr, "xdg", "/home/me"), "/home/me/.cache/fad");
  EXPECT_EQ(getFolder(nullptr, "", "/home/me"), "/home/me/.cache/fad");
  EXPECT_EQ(getFolder(nullptr, nullptr, "/home/me"), "/home/me/.cache/fad");
  EXPECT_EQ(getFolder(nullptr, nullptr, ""), "");
  EXPECT_EQ(getFolder(nullptr, nullptr, nullptr), "");
}
