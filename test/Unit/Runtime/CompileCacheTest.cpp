//===- CompileCacheTest.cpp - Machine code on disk ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/CompileCache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir::fad;
namespace fs = llvm::sys::fs;

namespace {
class CompileCacheTest : public testing::Test {
protected:
  CompileCacheTest() {
    EXPECT_FALSE(fs::createUniqueDirectory("fad-cache", folder));
  }
  ~CompileCacheTest() override { (void)fs::remove_directories(folder); }

  CompileCache make(uint64_t maxBytes = 1 << 20) {
    return CompileCache(folder.str().str(), maxBytes);
  }
  std::string getPath(llvm::StringRef key) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "llvmcache-" + key);
    return path.str().str();
  }
  static std::string makeKey(unsigned number) { return std::to_string(number); }
  static std::string load(const CompileCache &cache, llvm::StringRef key) {
    auto content = cache.load(key);
    return content ? content->getBuffer().str() : "(none)";
  }
  std::string read(llvm::StringRef key) {
    auto content = llvm::MemoryBuffer::getFile(getPath(key));
    return content ? (*content)->getBuffer().str() : "";
  }
  void write(llvm::StringRef key, llvm::StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream(getPath(key), code) << bytes;
    EXPECT_FALSE(code);
  }
  unsigned countEntries() {
    unsigned count = 0;
    std::error_code code;
    for (fs::directory_iterator file(folder, code), end; file != end && !code;
         file.increment(code))
      count +=
          llvm::sys::path::filename(file->path()).starts_with("llvmcache-");
    return count;
  }

  llvm::SmallString<128> folder;
};
} // namespace

TEST_F(CompileCacheTest, ReturnsWhatWasStored) {
  CompileCache cache = make();
  EXPECT_EQ(load(cache, "key"), "(none)");
  cache.store("key", "code");
  cache.store("empty", "");
  EXPECT_EQ(load(cache, "key"), "code");
  EXPECT_EQ(load(cache, "empty"), "");
  cache.store("key", "other code");
  EXPECT_EQ(load(cache, "key"), "other code");
  EXPECT_EQ(countEntries(), 2u);
}

// An entry that is not what was stored is none.
TEST_F(CompileCacheTest, LeavesOutCorruptEntries) {
  CompileCache cache = make();
  cache.store("key", "machine code");
  std::string stored = read("key");
  for (size_t i = 0; i < stored.size(); ++i) {
    std::string corrupt = stored;
    corrupt[i] ^= 4;
    write("key", corrupt);
    EXPECT_EQ(load(cache, "key"), "(none)") << "byte " << i;
  }
  for (size_t size = 0; size < stored.size(); ++size) {
    write("key", stored.substr(0, size));
    EXPECT_EQ(load(cache, "key"), "(none)") << size << " bytes";
  }
  write("key", stored + "x");
  EXPECT_EQ(load(cache, "key"), "(none)");
  write("key", stored);
  EXPECT_EQ(load(cache, "key"), "machine code");
}

TEST_F(CompileCacheTest, RemovesWhatWasUsedLeastRecently) {
  CompileCache cache = make(/*maxBytes=*/1000);
  std::string content(200, 'x');
  auto now = std::chrono::system_clock::now();
  for (unsigned i = 0; i < 4; ++i) {
    std::string key = makeKey(i);
    cache.store(key, content);
    int file;
    ASSERT_FALSE(fs::openFileForReadWrite(getPath(key), file,
                                          fs::CD_OpenExisting, fs::OF_None));
    ASSERT_FALSE(fs::setLastAccessAndModificationTime(
        file, now - std::chrono::minutes(10 - i)));
    fs::file_t native = fs::convertFDToNativeFile(file);
    ASSERT_FALSE(fs::closeFile(native));
  }
  EXPECT_EQ(load(cache, makeKey(0)), content);
  // A file of another program counts for nothing, and stays.
  llvm::SmallString<128> other(folder);
  llvm::sys::path::append(other, "other");
  std::error_code code;
  llvm::raw_fd_ostream(other, code) << std::string(2000, 'x');
  cache.store(makeKey(4), content);
  EXPECT_EQ(load(cache, makeKey(0)), content);
  EXPECT_EQ(load(cache, makeKey(1)), "(none)");
  EXPECT_EQ(load(cache, makeKey(2)), content);
  EXPECT_EQ(load(cache, makeKey(4)), content);
  EXPECT_TRUE(fs::exists(other));
  // What is larger than all is not stored.
  cache.store(makeKey(5), std::string(1001, 'x'));
  EXPECT_EQ(load(cache, makeKey(5)), "(none)");
  EXPECT_EQ(load(cache, makeKey(4)), content);
}

// A reader never sees a part of an entry, whoever writes it meanwhile.
TEST_F(CompileCacheTest, IsSharedByThreads) {
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong{0};
  for (unsigned thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      CompileCache cache = make(/*maxBytes=*/20000);
      for (unsigned i = 0; i < 50; ++i) {
        unsigned number = (thread + i) % 5;
        std::string key = makeKey(number);
        cache.store(key, std::string(5000, number));
        std::string found = load(cache, key);
        // Another thread may have removed it.
        wrong += found != "(none)" && found != std::string(5000, number);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_LE(countEntries(), 4u);
}

// Entries of another user are not used.
TEST_F(CompileCacheTest, LeavesFilesOfOthers) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give files away";
  CompileCache cache = make(/*maxBytes=*/600);
  std::string key = makeKey(0), content(200, 'x');
  cache.store(key, content);
  std::string stored = read(key);
  ASSERT_EQ(chown(getPath(key).c_str(), 12345, 12345), 0);
  EXPECT_EQ(load(cache, key), "(none)");
  cache.store(key, "other");
  EXPECT_EQ(read(key), stored);
}

// To open a FIFO for reading waits for a writer, which may never come.
TEST_F(CompileCacheTest, LeavesWhatIsNoFile) {
  CompileCache cache = make(/*maxBytes=*/1000);
  std::string fifo = makeKey(0), folder = makeKey(1), link = makeKey(2);
  cache.store(makeKey(3), "code");
  ASSERT_EQ(mkfifo(getPath(fifo).c_str(), 0600), 0);
  ASSERT_EQ(mkdir(getPath(folder).c_str(), 0700), 0);
  ASSERT_EQ(symlink("/dev/zero", getPath(link).c_str()), 0);
  for (const std::string &key : {fifo, folder, link}) {
    EXPECT_EQ(load(cache, key), "(none)");
    cache.store(key, "code");
    EXPECT_EQ(load(cache, key), "(none)");
  }
  fs::file_status status;
  ASSERT_FALSE(fs::status(getPath(fifo), status));
  EXPECT_EQ(status.type(), fs::file_type::fifo_file);
}

TEST_F(CompileCacheTest, DoesNothingWhereItCannotWrite) {
  write("file", "");
  CompileCache cache(getPath("file"), 1000);
  cache.store("key", "code");
  EXPECT_EQ(load(cache, "key"), "(none)");
}

TEST_F(CompileCacheTest, BuildIsKnown) {
  EXPECT_FALSE(describeBuild().empty());
  EXPECT_EQ(describeBuild(), describeBuild());
}
