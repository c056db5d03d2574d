//===- Cache.h - Compiled kernels on disk -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cache is never the reason that something fails: what cannot be read is
// compiled, and what cannot be written is not kept. A folder or an entry that is
// another user's, or that others can write to, is left alone: what is in it would
// be run.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CUDARUNTIME_CACHE_H
#define FAD_LIB_CUDARUNTIME_CACHE_H

#include "Sha256.h"
#include <string>

namespace fad::cuda {
/// All that a cubin depends on.
struct CacheKey {
  int driverVersion;
  int major, minor;
  int optimizationLevel;
  const std::string &ptx;

  /// An entry is found by this alone, so that it has to be a hash without known
  /// collisions: kernels that are taken for each other compute wrong numbers.
  Digest getDigest() const;
};

/// The folder of the cache, or an empty string where there is none.
std::string getCacheFolder();

/// Reads the cubin of `key`, and returns whether there is one that is whole.
bool readCache(const std::string &folder, const Digest &key,
               std::string &cubin);

/// Keeps a cubin, in the place of another one of the same key. Readers see the
/// old one, or the whole new one.
void writeCache(const std::string &folder, const Digest &key, const void *cubin,
                size_t size);
} // namespace fad::cuda

#endif // FAD_LIB_CUDARUNTIME_CACHE_H
