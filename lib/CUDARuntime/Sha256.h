//===- Sha256.h - The hash that names entries of the cache ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CUDARUNTIME_SHA256_H
#define FAD_LIB_CUDARUNTIME_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace fad::cuda {
using Digest = std::array<uint8_t, 32>;

/// SHA-256 of FIPS 180-4.
class Sha256 {
public:
  void update(const void *data, size_t size);
  /// The digest of all that was given. Nothing can be added afterwards.
  Digest finish();

  static Digest hash(const void *data, size_t size);

private:
  static constexpr size_t kBlockSize = 64;
  void compress(const uint8_t *block);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, kBlockSize> pending;
  size_t pendingSize = 0;
  uint64_t totalSize = 0;
};
} // namespace fad::cuda

#endif // FAD_LIB_CUDARUNTIME_SHA256_H
