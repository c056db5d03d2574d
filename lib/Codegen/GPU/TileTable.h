//===- TileTable.h - Division of elements among threads ---------*- C++ -*-===//
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

/// The division of a tile among threads: thread `t` computes `accesses` vectors
/// of `lanes` elements, the first at `t * lanes`, each next one
/// `threads * lanes` further on.
struct Tile {
  int64_t threads;
  int64_t lanes;
  int64_t accesses;
  /// The number of blocks for which a multiprocessor has to have room, which
  /// bounds the registers of a thread; 0 leaves them to the assembler.
  int64_t blocks;

  int64_t getStride() const { return threads * lanes; }
  int64_t getSize() const { return getStride() * accesses; }
};

/// The row of the table for an architecture.
struct TileParameters {
  /// The oldest chip, as the number after "sm_".
  unsigned chip;
  int64_t threads;
  /// Vectors of 16 bytes that a thread loads before it computes. Each input
  /// gets an equal share, one at least.
  int64_t loads;
  /// Maximum resident threads of a multiprocessor.
  int64_t residentThreads;
};

/// The user's values, which override the table; 0 takes the table's.
struct TileOverrides {
  int64_t threads = 0;
  int64_t accesses = 0;
};

/// The parameters for `chip`, such as "sm_90": those of the newest architecture
/// in the table that is not newer.
const TileParameters &getTileParameters(StringRef chip);

/// Bytes of one access of a thread.
constexpr int64_t kAccessBytes = 16;

/// The elements of a vector: those of the widest type in one access.
int64_t getLanes(const ElementwiseKernel &kernel);

Tile chooseTile(const ElementwiseKernel &kernel,
                const TileParameters &parameters,
                const TileOverrides &overrides);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_TILETABLE_H
