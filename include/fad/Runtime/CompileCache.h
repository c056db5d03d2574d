//===- CompileCache.h - Machine code on disk --------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_COMPILECACHE_H
#define FAD_RUNTIME_COMPILECACHE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>
#include <string>

namespace mlir::fad {

/// A folder of files, named by a digest of their sources. Processes share it: a
/// file appears whole or not at all. An entry with a wrong digest is not used.
/// Beyond its size, `llvm::pruneCache` removes the entries that were used least
/// recently. Files of other users are not used.
class CompileCache {
public:
  /// The cache in `folder`, which is made when it is first written to. Entries
  /// take up to `maxBytes`.
  CompileCache(std::string folder, uint64_t maxBytes)
      : folder(std::move(folder)), maxBytes(maxBytes) {}

  /// That of the user: the folder `code` in that of the variable FAD_CACHE_DIR
  /// of the environment, or in `fad` in the user's cache folder. It takes up to
  /// FAD_CACHE_SIZE bytes, such as `2GiB`, by default 512MiB; 0 is no cache. If
  /// the variable has no such value, `warn` is told so, the first time.
  ///
  /// There is no cache where the command line sets an option of LLVM, because
  /// code may depend on it: one in the general category, which a tool's own
  /// options therefore are not in.
  static std::optional<CompileCache>
  get(llvm::function_ref<void(const llvm::Twine &)> warn);

  /// The content of entry `key`, or null.
  std::unique_ptr<llvm::MemoryBuffer> load(llvm::StringRef key) const;
  /// Writes entry `key`. Nothing happens where the folder cannot be written.
  void store(llvm::StringRef key, llvm::StringRef content) const;

private:
  std::string folder;
  uint64_t maxBytes;
};

/// A text that identifies the files of fad, LLVM and MLIR that run: another
/// build has another one. Empty if that is unknown.
const std::string &describeBuild();

} // namespace mlir::fad

#endif // FAD_RUNTIME_COMPILECACHE_H
