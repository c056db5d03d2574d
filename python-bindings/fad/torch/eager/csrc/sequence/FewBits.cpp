//===- FewBits.cpp - Derivatives in few bits ------------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/FewBits.h"
#include "sequence/Bits.h"
#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <cmath>
#include <cstring>

// Loops over elements take the instructions of the processor that runs them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FAD_VECTORIZED                                                         \
  __attribute__((optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
#define FAD_VECTORIZED
#endif

namespace fad::eager {

/// Elements that are packed at once.
static constexpr int64_t blockSize = 512;

/// The greatest number of a type that is not above another.
template <typename T> static T roundDown(double number) {
  T rounded = static_cast<T>(number);
  return rounded > number
             ? std::nextafter(rounded, -std::numeric_limits<T>::infinity())
             : rounded;
}

/// How many boundaries are below each of a block's elements: one after the
/// other where there are few.
template <typename T>
FAD_VECTORIZED static void count(const T *data, int64_t size,
                                 const T *boundaries, int number,
                                 int32_t *codes) {
  for (int64_t i = 0; i < size; ++i)
    codes[i] = 0;
  for (int k = 0; k < number; ++k) {
    const T boundary = boundaries[k];
    for (int64_t i = 0; i < size; ++i)
      codes[i] += data[i] > boundary;
  }
}

/// The same by bisection, among 2^bits - 1 boundaries.
template <typename T>
static void bisect(const T *data, int64_t size, const T *boundaries, int bits,
                   int32_t *codes) {
  for (int64_t i = 0; i < size; ++i) {
    int32_t code = 0;
    for (int32_t step = 1 << (bits - 1); step; step >>= 1)
      code += data[i] > boundaries[code + step - 1] ? step : 0;
    codes[i] = code;
  }
}

/// Puts a block's numbers into bytes, those of eight elements into as many as
/// `bits`.
template <int bits>
FAD_VECTORIZED static void join(const int32_t *codes, int64_t size,
                                uint8_t *bytes) {
  for (int64_t i = 0; i < size; i += 8, bytes += bits) {
    uint64_t word = 0;
    for (int j = 0; j < 8; ++j)
      word |= static_cast<uint64_t>(codes[i + j]) << (bits * j);
    std::memcpy(bytes, &word, bits);
  }
}

/// The reverse.
template <int bits>
FAD_VECTORIZED static void split(const uint8_t *bytes, int64_t size,
                                 int32_t *codes) {
  for (int64_t i = 0; i < size; i += 8, bytes += bits) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, bits);
    for (int j = 0; j < 8; ++j)
      codes[i + j] =
          static_cast<int32_t>(word >> (bits * j) & ((1 << bits) - 1));
  }
}

using Join = void (*)(const int32_t *, int64_t, uint8_t *);
using Split = void (*)(const uint8_t *, int64_t, int32_t *);
static constexpr int maxBits = 8;
static void joinBlock(int bits, const int32_t *codes, int64_t size,
                      uint8_t *bytes) {
  static const Join all[maxBits] = {join<1>, join<2>, join<3>, join<4>,
                                    join<5>, join<6>, join<7>, join<8>};
  all[bits - 1](codes, size, bytes);
}
static void splitBlock(int bits, const uint8_t *bytes, int64_t size,
                       int32_t *codes) {
  static const Split all[maxBits] = {split<1>, split<2>, split<3>, split<4>,
                                     split<5>, split<6>, split<7>, split<8>};
  all[bits - 1](bytes, size, codes);
}

/// Whether all elements of a block are finite numbers.
template <typename T>
FAD_VECTORIZED static bool isFinite(const T *data, int64_t size) {
  int32_t others = 0;
  for (int64_t i = 0; i < size; ++i)
    others |= !(std::abs(data[i]) <= std::numeric_limits<T>::max());
  return others == 0;
}

/// Whether there is a level for each element.
template <typename From, typename T>
static bool pack(const From *data, int64_t size, const Levels &levels,
                 uint8_t *bytes) {
  const int bits = levels.bits;
  T boundaries[255];
  std::fill(boundaries, boundaries + 255, std::numeric_limits<T>::infinity());
  for (size_t k = 0; k < levels.boundaries.size(); ++k)
    boundaries[k] = roundDown<T>(levels.boundaries[k]);
  T block[blockSize];
  int32_t codes[blockSize];
  for (int64_t begin = 0; begin < size; begin += blockSize) {
    int64_t length = std::min(blockSize, size - begin);
    for (int64_t i = 0; i < length; ++i)
      block[i] = static_cast<T>(data[begin + i]);
    if (!isFinite(block, length))
      return false;
    if (bits <= 4)
      count(block, length, boundaries,
            static_cast<int>(levels.boundaries.size()), codes);
    else
      bisect(block, length, boundaries, bits, codes);
    // The last bytes are whole.
    std::fill(codes + length, codes + (length + 7) / 8 * 8, 0);
    joinBlock(bits, codes, length, bytes + begin / 8 * bits);
  }
  return true;
}

/// Calls `visit` with the place and the level of each element.
template <typename T, typename Visit>
static void visitLevels(const uint8_t *bytes, int64_t size,
                        const Levels &levels, Visit visit) {
  T table[256] = {};
  std::copy(levels.levels.begin(), levels.levels.end(), table);
  int32_t codes[blockSize];
  for (int64_t begin = 0; begin < size; begin += blockSize) {
    int64_t length = std::min(blockSize, size - begin);
    splitBlock(levels.bits, bytes + begin / 8 * levels.bits, length, codes);
    for (int64_t i = 0; i < length; ++i)
      visit(begin + i, table[codes[i]]);
  }
}

at::Tensor packLevels(const at::Tensor &tensor, const Levels &levels) {
  at::Tensor dense = denseOf(tensor);
  at::Tensor packed =
      at::empty({(dense.numel() + 7) / 8 * levels.bits},
                dense.options().dtype(at::kByte).requires_grad(false));
  bool isPacked = false;
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, dense.scalar_type(), "fad_pack_levels", [&] {
        isPacked = pack<scalar_t, at::opmath_type<scalar_t>>(
            dense.const_data_ptr<scalar_t>(), dense.numel(), levels,
            packed.mutable_data_ptr<uint8_t>());
      });
  return isPacked ? packed : at::Tensor();
}

at::Tensor unpackLevels(const at::Tensor &packed, const Levels &levels,
                        const at::Tensor &like) {
  // It is no transform's.
  at::Tensor result = at::detail::empty_cpu(like.sizes(), like.scalar_type());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, like.scalar_type(), "fad_unpack_levels", [&] {
        scalar_t *to = result.mutable_data_ptr<scalar_t>();
        visitLevels<at::opmath_type<scalar_t>>(
            packed.const_data_ptr<uint8_t>(), like.numel(), levels,
            [&](int64_t i, auto level) {
              to[i] = static_cast<scalar_t>(level);
            });
      });
  return result;
}

at::Tensor multiplyLevels(const at::Tensor &gradient, const at::Tensor &packed,
                          const Levels &levels) {
  if (!isPlain(gradient))
    return gradient * unpackLevels(packed, levels, gradient);
  at::Tensor dense = denseOf(gradient);
  at::Tensor result =
      at::empty(dense.sizes(), dense.options().requires_grad(false));
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, dense.scalar_type(), "fad_multiply_levels",
      [&] {
        const scalar_t *from = dense.const_data_ptr<scalar_t>();
        scalar_t *to = result.mutable_data_ptr<scalar_t>();
        visitLevels<at::opmath_type<scalar_t>>(
            packed.const_data_ptr<uint8_t>(), dense.numel(), levels,
            [&](int64_t i, auto level) {
              to[i] = static_cast<scalar_t>(from[i] * level);
            });
      });
  return result;
}

} // namespace fad::eager
