//===- Sha256.cpp - The hash that names entries of the cache --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sha256.h"
#include <algorithm>
#include <cstring>

using namespace fad::cuda;

// The first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
static constexpr uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int bits) {
  return word >> bits | word << (32 - bits);
}

void Sha256::compress(const uint8_t *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(block[4 * i]) << 24 | uint32_t(block[4 * i + 1]) << 16 |
           uint32_t(block[4 * i + 2]) << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kConstants[i] + w[i];
    uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t sums[] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += sums[i];
}

void Sha256::update(const void *data, size_t size) {
  auto *bytes = static_cast<const uint8_t *>(data);
  totalSize += size;
  while (size) {
    size_t taken = std::min(size, kBlockSize - pendingSize);
    std::memcpy(pending.data() + pendingSize, bytes, taken);
    pendingSize += taken;
    bytes += taken;
    size -= taken;
    if (pendingSize == kBlockSize) {
      compress(pending.data());
      pendingSize = 0;
    }
  }
}

Digest Sha256::finish() {
  uint64_t bits = totalSize * 8;
  uint8_t padding[kBlockSize + 8] = {0x80};
  size_t zerosEnd = (pendingSize < 56 ? 56 : 56 + kBlockSize) - pendingSize;
  for (int i = 0; i < 8; ++i)
    padding[zerosEnd + i] = uint8_t(bits >> (56 - 8 * i));
  update(padding, zerosEnd + 8);
  Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest Sha256::hash(const void *data, size_t size) {
  Sha256 sha;
  sha.update(data, size);
  return sha.finish();
}
