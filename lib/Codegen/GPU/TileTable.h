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

/// The threads of a block, and the vectors of 16 bytes that a thread loads
/// before it computes. With 2048 resident threads, two loads keep 64 KiB under
/// way on a multiprocessor. `benchmarks/kernels/kernels_gpu.py --sweep`
/// measures others.
constexpr int64_t kThreads = 256, kLoads = 2;

/// Bytes of one access of a thread.
constexpr int64_t kAccessBytes = 16;

/// The elements of a vector: those of the widest type in one access.
int64_t getLanes(const ElementwiseKernel &kernel);

/// The tile of `kernel` on `chip`. `threads` and `accesses` are the user's
/// values, where they are not 0.
Tile chooseTile(const ElementwiseKernel &kernel, StringRef chip,
                int64_t threads, int64_t accesses);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_GPU_TILETABLE_H
