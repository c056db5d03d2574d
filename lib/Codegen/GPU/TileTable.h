//===- TileTable.h - How kernels share out elements -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_GPU_TILETABLE_H
#define FAD_LIB_CODEGEN_GPU_TILETABLE_H

#include "mlir/Support/LLVM.h"

namespace mlir::fad {

struct ElementwiseKernel;

/// How the elements of a tile are shared out: thread `t` computes `accesses`
/// vectors of `lanes` elements, the first at `t * lanes`, each next one
/// `threads * lanes` further on.
struct Tile {
  int64_t threads;
  int64_t lanes;
  int64_t accesses;
  /// How many blocks a multiprocessor is to have room for, which bounds the
  /// registers of a thread; 0 leaves them to the assembler.
  int64_t blocks;

  int64_t getStride() const { return threads * lanes; }
  int64_t getSize() const { return getStride() * accesses; }
};

/// What the table has for an architecture.
struct TileParameters {
  /// The first chip, as the number after "sm_".
  unsigned chip;
  int64_t threads;
  /// Vectors of 16 bytes that a thread loads before it computes: as many of
  /// each input as make up this number, one at least.
  int64_t loads;
  /// Threads that a multiprocessor holds.
  int64_t residentThreads;
};

/// What the user asks for instead; 0 leaves it to the table.
struct TileOverrides {
  int64_t threads = 0;
  int64_t accesses = 0;
};

/// The parameters for `chip`, such as "sm_90": those of the newest architecture
/// in the table that is not newer.
const TileParameters &getTileParameters(StringRef chip);

/// Bytes that one thread moves in one access.
constexpr int64_t kAccessBytes = 16;

/// The elements of a vector: as many as one access moves of the widest type.
int64_t getLanes(const ElementwiseKernel &kernel);

Tile chooseTile(const ElementwiseKernel &kernel,
                const TileParameters &parameters,
                const TileOverrides &overrides);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_TILETABLE_H
